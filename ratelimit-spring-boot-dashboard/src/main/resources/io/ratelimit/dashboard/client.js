/* Speaks to the actuator endpoint, with the credentials that the browser has. */
(function (page) {
  'use strict';

  const TIMEOUT = 10000;

  const JSON_TYPE = 'application/json';

  /** The token of Spring Security's CookieCsrfTokenRepository, if the application has one. */
  function csrfToken() {
    const cookie = /(?:^|;\s*)XSRF-TOKEN=([^;]*)/.exec(document.cookie || '');
    return cookie ? decodeURIComponent(cookie[1]) : null;
  }

  function parse(text) {
    try {
      return JSON.parse(text);
    } catch (ex) {
      return null;
    }
  }

  /**
   * Sends a request.
   *
   * @return a promise of the status (0: no answer), the JSON if there is any, and a function that reads a header
   */
  function send(method, url, body) {
    return new Promise(resolve => {
      const request = new XMLHttpRequest();
      const done = status => resolve({
        status,
        json: status ? parse(request.responseText) : null,
        header: name => status ? request.getResponseHeader(name) : null
      });
      request.open(method, url);
      request.timeout = TIMEOUT;
      request.setRequestHeader('Accept', JSON_TYPE);
      // Spring Security then answers 401 instead of a page to log in.
      request.setRequestHeader('X-Requested-With', 'XMLHttpRequest');
      const token = method === 'GET' || method === 'OPTIONS' ? null : csrfToken();
      if (token) {
        request.setRequestHeader('X-XSRF-TOKEN', token);
      }
      request.onload = () => done(request.status);
      request.onerror = () => done(0);
      request.ontimeout = () => done(0);
      request.onabort = () => done(0);
      if (body) {
        request.setRequestHeader('Content-Type', JSON_TYPE);
        request.send(JSON.stringify(body));
      } else {
        request.send();
      }
    });
  }

  function query(parameters) {
    const parts = Object.keys(parameters)
      .filter(name => parameters[name] !== null && parameters[name] !== undefined)
      .map(name => name + '=' + encodeURIComponent(parameters[name]));
    return parts.length ? '?' + parts.join('&') : '';
  }

  function Client(base) {
    const url = (limit, parameters) =>
      base + (limit === null ? '' : '/' + encodeURIComponent(limit)) + query(parameters || {});

    return {
      /** Reads all limits, with the figures of the last so many seconds. */
      limits: seconds => send('GET', url(null, { history: seconds + 's' })),
      limit: name => send('GET', url(name)),
      bucket: (name, key, plan) => send('GET', url(name, { key, plan })),
      /** What the endpoint can do; not what this user may do. */
      methods: name => send('OPTIONS', url(name)),
      override: (name, attributes) => send('POST', url(name), attributes),
      removeOverride: (name, plan, version) => send('DELETE', url(name, { plan, version })),
      // The key is in the body, because servers and proxies log URLs.
      changeBucket: (name, key, plan, change) => send('POST', url(name), Object.assign({ key }, plan ? { plan } : {}, change)),
      resetBucket: (name, key, plan) => send('DELETE', url(name, { key, plan }))
    };
  }

  const READ_ONLY = 'Set management.endpoint.ratelimits.access=unrestricted, and protect the endpoint.';

  const EXPOSE = 'Expose it: management.endpoints.web.exposure.include=health,ratelimits. Then restart the application.';

  /** Says why there are no figures: title, text, and what to do. */
  function unreadable(answer) {
    const detail = answer.json && (answer.json.detail || answer.json.error);
    switch (answer.status) {
      case 401:
        return { title: 'You are not signed in', text: 'The endpoint asks for credentials (401).',
          fix: 'Reload this page to sign in.' };
      case 403:
        return { title: 'You may not read the limits', text: 'The endpoint refuses your account (403).',
          fix: 'Sign in with an account that may read the actuator endpoint ratelimits.' };
      case 404:
        return { title: 'The endpoint is not there', text: 'The application does not expose the actuator endpoint ratelimits (404).',
          fix: EXPOSE };
      case 429:
        return { title: 'The application limits this page', text: 'A URL rule of ratelimit.http rejects the requests of this page (429).',
          fix: 'Exclude the actuator from the rule, or give the management server a port of its own.' };
      default:
        return answer.status >= 200 && answer.status < 400
          ? { title: 'You are not signed in', text: 'The endpoint answers with a page instead of JSON: your session has ended.',
            fix: 'Reload this page to sign in.' }
          : { title: 'The endpoint fails', text: 'It answers ' + answer.status + (detail ? ': ' + detail : '') + '.',
            fix: 'The log of the application says more.' };
    }
  }

  /** Says in one sentence or two why a change was refused. */
  function refusal(answer) {
    const detail = answer.json && answer.json.detail;
    switch (answer.status) {
      case 0:
        return 'There was no answer, so the change may have been made or not. Look at what applies now.';
      case 401:
        return 'You are not signed in (401). Reload this page to sign in.';
      case 403:
        return 'Refused (403): your account may not change limits, or the CSRF token is missing.'
          + ' The page sends the token of the cookie XSRF-TOKEN if there is one.';
      case 405:
        return 'The endpoint can only be read (405). ' + READ_ONLY;
      case 429:
        return 'A URL rule of the application rejected the change (429). Try again later.';
      default:
        return (detail || 'The endpoint answers ' + answer.status + '.')
          + (answer.status === 503 && !/Nothing was changed|may still make|was reset/.test(detail || '') ? ' The change may have been made: look at what applies now.' : '');
    }
  }

  page.client = { Client, unreadable, refusal, READ_ONLY, EXPOSE };
})(window.RateLimits = window.RateLimits || {});
