/* Polls the endpoint, and shows what it answers. */
(function (page) {
  'use strict';

  const dom = page.dom;
  const format = page.format;

  const EVERY = 1000;

  const LONGEST_WAIT = 15000;

  const ALL_FIGURES = 15 * 60;

  /** Announcements of rejections are no more frequent, for those who listen to them. */
  const QUIET = 20000;

  const endpoint = document.documentElement.getAttribute('data-endpoint');
  const client = page.client.Client(endpoint);
  const history = page.History();
  const overview = page.Overview();
  const detail = page.Detail(client, changed);

  let data = null;
  let own = null;
  let ownOf = null;
  let opened = null;
  let paused = false;
  let polling = false;
  let again = false;
  let timer = null;
  let failures = 0;
  let failure = null;
  let lostSince = null;
  let nextTry = 0;
  let answeredAt = null;
  let figuresAt = null;
  let skew = 0;
  let rejecting = null;
  let announcedAt = 0;
  let storeState = null;

  /** The time of the server, as far as its answers tell. */
  function now() {
    return Date.now() + skew;
  }

  function announce(sentence) {
    dom.text(dom.byId('announcement'), sentence);
  }

  // Polling

  function poll() {
    clearTimeout(timer);
    if (polling) {
      again = true;
      return;
    }
    if (paused || document.hidden) {
      return;
    }
    polling = true;
    const of = opened === null ? worst() : opened;
    const missing = figuresAt === null ? ALL_FIGURES
      : Math.min(ALL_FIGURES, Math.ceil((Date.now() - figuresAt) / 1000) + 30);
    Promise.all([client.limits(missing), of === null ? null : client.limit(of), detail.readBucket()])
      .then(answers => answered(answers[0], of, answers[1]))
      .catch(ex => {
        // A mistake of this page must not end it.
        if (window.console) {
          window.console.error(ex);
        }
      })
      .then(() => {
        polling = false;
        schedule();
      });
  }

  /** The limit that rejects most, of which the overview says more. */
  function worst() {
    return data === null ? null : page.limits.worst(data);
  }

  function schedule() {
    const wait = again ? 0 : failures === 0 ? EVERY : Math.max(retryAfter(), Math.min(LONGEST_WAIT, EVERY * Math.pow(2, failures - 1)));
    again = false;
    nextTry = Date.now() + wait;
    timer = setTimeout(poll, wait);
  }

  function retryAfter() {
    const seconds = failure && failure.status === 429 ? Number(failure.header('Retry-After')) : 0;
    return seconds > 0 ? Math.min(seconds, 60) * 1000 : 0;
  }

  function answered(answer, of, ofLimit) {
    if (answer.status !== 200 || !answer.json || !answer.json.limits) {
      failed(answer);
      return;
    }
    skew = skewOf(answer);
    const wasLost = lostSince !== null;
    failures = 0;
    failure = null;
    lostSince = null;
    answeredAt = Date.now();
    figuresAt = Date.now();
    data = answer.json;
    if (opened === null || of === opened) {
      own = ofLimit && ofLimit.status === 200 ? ofLimit.json : null;
      ownOf = of;
    }
    const names = Object.keys(data.limits);
    names.forEach(name => {
      if (data.limits[name].history) {
        history.add(name, data.limits[name].history);
      }
    });
    history.keep(names);
    render();
    tell(names, wasLost);
  }

  /**
   * Returns how far ahead the clock of the figures is. Those of all instances have the time of the store, which the instances
   * see every second; otherwise the instance's own counts, which only HTTP tells. Less than this can be the age of the answer.
   */
  function skewOf(answer) {
    const instances = answer.json.figures === 'all-instances' ? answer.json.instances || [] : [];
    const time = instances.length
      ? Math.max.apply(null, instances.map(instance => Date.parse(instance.lastSeenAt))) : Date.parse(answer.header('Date') || '');
    return time && Math.abs(time - Date.now()) > 3000 ? time - Date.now() : 0;
  }

  function failed(answer) {
    failures++;
    failure = answer;
    if (lostSince === null) {
      lostSince = answeredAt === null ? Date.now() : answeredAt;
      announce(answer.status === 0 ? 'The instance does not answer.' : page.client.unreadable(answer).title + '.');
    }
    connection();
  }

  /** Tells a screen reader what an operator must know, and no more often than that. */
  function tell(names, wasLost) {
    const are = names.filter(name => page.limits.lastMinute(data.limits[name]).rejected > 0);
    const fresh = rejecting === null ? [] : are.filter(name => rejecting.indexOf(name) < 0);
    const store = page.store.failing(data);
    if (wasLost) {
      announce('The instance answers again.');
    } else if (storeState !== null && storeState !== store) {
      announce(page.store.banner(data, now()).title + '.');
    } else if (fresh.length && Date.now() - announcedAt > QUIET) {
      announcedAt = Date.now();
      announce((fresh.length === 1 ? 'The limit ' + fresh[0] + ' rejects' : fresh.length + ' more limits reject') + ' calls.');
    }
    rejecting = are;
    storeState = store;
    document.title = (are.length ? '▲ ' + format.plural(are.length, 'rejects', 'reject') + ' – ' : '') + 'Rate limits';
  }

  // Showing

  function render() {
    dom.show(dom.byId('figures'), true);
    dom.text(dom.byId('instance'), data.instance);
    const banner = page.store.banner(data, now());
    dom.show(dom.byId('store'), true);
    dom.set(dom.byId('store'), 'class', 'notice ' + banner.style);
    dom.text(dom.byId('store-title'), banner.title);
    dom.text(dom.byId('store-text'), banner.text);
    servers();
    if (opened === null) {
      overview.update(data, history, now(), ownOf === worst() ? own : null);
    } else {
      detail.update(data, own, history, now());
    }
    connection();
  }

  /** Shows several Redis servers while one of them fails. */
  function servers() {
    const all = page.store.servers(data, now());
    dom.show(dom.byId('store-servers'), all.some(server => server.fails));
    dom.list(dom.byId('store-servers'), all, server => server.name,
      server => dom.element('li', { 'data-server': server.name }, [
        dom.element('strong', {}, [server.name]), ' ', dom.element('span', { class: 'word' }),
        dom.element('small', { class: 'concerned' }), dom.element('small', { class: 'error' })]),
      (node, server) => {
        dom.text(node.childNodes[2], server.state);
        dom.set(node.childNodes[2], 'class', 'word ' + (server.fails ? 'bad' : 'good'));
        dom.text(node.childNodes[3], server.limits);
        dom.text(node.lastChild, server.error);
      });
  }

  /** Shows whether the figures are of now. */
  function connection() {
    const lost = lostSince !== null;
    const unreachable = failure !== null && (failure.status === 0 || failure.status >= 500);
    const state = lost ? 'lost' : paused ? 'paused' : answeredAt === null ? 'connecting' : 'live';
    dom.set(dom.byId('connection'), 'class', 'connection ' + state);
    dom.text(dom.byId('connection-text'), lost ? 'No figures since ' + format.clock(lostSince, true)
      : paused ? 'Paused at ' + format.clock(answeredAt || Date.now(), true)
        : answeredAt === null ? 'Connecting' : 'Live');
    dom.mark(dom.byId('figures'), 'stale', lost);
    dom.show(dom.byId('problem'), lost);
    if (!lost) {
      return;
    }
    const wait = Math.max(0, Math.ceil((nextTry - Date.now()) / 1000));
    const told = failure.status === 0
      ? { title: 'The instance does not answer', text: data === null ? 'There is no connection to it.'
        : data.instance + ' has not answered since ' + format.clock(lostSince, true) + ' ('
          + format.span(Date.now() - lostSince) + '). The figures below are from then.', fix: '' }
      : page.client.unreadable(failure);
    dom.text(dom.byId('problem-title'), told.title);
    dom.text(dom.byId('problem-text'), told.text + (unreachable || failure.status === 429
      ? ' Next try ' + (polling || wait === 0 ? 'now' : 'in ' + wait + ' s') + '.' : ''));
    dom.text(dom.byId('problem-fix'), told.fix);
    dom.show(dom.byId('problem-fix'), told.fix !== '');
  }

  function changed(announcement) {
    if (announcement) {
      announce(announcement);
    }
    poll();
  }

  // What the address names

  function route() {
    // Names of limits need no decoding: they have letters, digits, - and _ alone.
    const match = /^#\/limit\/([\w-]+)$/.exec(window.location.hash);
    const next = match ? match[1] : null;
    const moved = next !== opened;
    opened = next;
    dom.show(dom.byId('overview'), opened === null);
    dom.show(dom.byId('detail'), opened !== null);
    if (!moved) {
      return;
    }
    own = null;
    if (opened !== null) {
      detail.open(opened);
    }
    if (data !== null) {
      render();
      window.scrollTo(0, 0);
      dom.byId(opened === null ? 'main' : 'limit-name').focus();
    }
    poll();
  }

  function pause() {
    paused = !paused;
    dom.set(dom.byId('pause'), 'aria-pressed', paused);
    dom.text(dom.byId('pause'), paused ? 'Resume' : 'Pause');
    connection();
    if (!paused) {
      poll();
    }
  }

  function start() {
    window.addEventListener('hashchange', route);
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) {
        poll();
      }
    });
    window.addEventListener('resize', () => data !== null && opened !== null && render());
    dom.byId('pause').addEventListener('click', pause);
    dom.byId('retry').addEventListener('click', poll);
    setInterval(connection, 1000);
    route();
    if (opened === null) {
      poll();
    }
  }

  function unexposed() {
    dom.show(dom.byId('problem'), true);
    dom.show(dom.byId('retry'), false);
    dom.text(dom.byId('connection-text'), 'No figures');
    dom.text(dom.byId('problem-title'), 'The endpoint is not exposed');
    dom.text(dom.byId('problem-text'), 'This page shows what the actuator endpoint ratelimits tells, and the application does not expose it.');
    dom.text(dom.byId('problem-fix'), page.client.EXPOSE);
  }

  if (endpoint) {
    start();
  } else {
    unexposed();
  }
})(window.RateLimits = window.RateLimits || {});
