/*
 * The page at "/": calls the limited endpoints and draws the buckets. A bucket is read from /actuator/ratelimits/{limit}?key=…,
 * which takes no permit, once after the answers of a click. From then on its level is calculated, because the limit's rate
 * and the time until the bucket is full determine it exactly.
 */
(function () {
  'use strict';

  const ENDPOINT = '/actuator/ratelimits';

  /** For what the page cannot calculate: other callers of the same buckets, and changes of the limits. */
  const REFRESH_MILLIS = 4000;

  const MOST_ANSWERS = 20;

  const REASONS = {
    200: 'OK', 400: 'Bad Request', 405: 'Method Not Allowed', 429: 'Too Many Requests',
    500: 'Internal Server Error', 503: 'Service Unavailable'
  };

  const FIELDS = ['ratelimit-policy', 'ratelimit', 'retry-after', 'content-type'];

  const FIELD_NAMES = {
    'ratelimit-policy': 'RateLimit-Policy', 'ratelimit': 'RateLimit', 'retry-after': 'Retry-After',
    'content-type': 'Content-Type'
  };

  const UNITS = { us: 0.001, ms: 1, s: 1000, m: 60000, h: 3600000, d: 86400000 };

  const calm = window.matchMedia && window.matchMedia('(prefers-reduced-motion: reduce)').matches;

  const callerInput = document.getElementById('caller');

  const storeText = document.getElementById('store');

  /** The limits by name, as the endpoint describes them. */
  let limits = {};

  const cards = [];

  const buckets = [];

  // ---- small helpers

  function now() {
    return window.performance.now();
  }

  /** Creates an element with a class and a text, neither of which is parsed. */
  function create(tag, className, text) {
    const element = document.createElement(tag);
    if (className) {
      element.className = className;
    }
    if (text !== undefined) {
      element.textContent = text;
    }
    return element;
  }

  function draw(tag, attributes, parent) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    Object.keys(attributes).forEach(function (name) {
      element.setAttribute(name, attributes[name]);
    });
    parent.appendChild(element);
    return element;
  }

  function caller() {
    return callerInput.value.trim() || 'alice';
  }

  /** Returns the value encoded for a URL that is also quoted in a shell. */
  function encode(value) {
    return encodeURIComponent(value).replace(/'/g, '%27');
  }

  /** Returns the milliseconds of a duration in ISO 8601 without days, such as PT1M2.5S. */
  function millis(duration) {
    const part = /^PT(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?[\d.]+)S)?$/.exec(duration || '');
    return part ? (Number(part[1] || 0) * 60 + Number(part[2] || 0)) * 60000 + Number(part[3] || 0) * 1000 : 0;
  }

  /** Returns the permits of a rate in a millisecond: of 10/s, 5/10s or 3/500ms; 0 if the text is another one. */
  function permitsPerMilli(rate) {
    const part = /^(\d+)\/(\d*)(us|ms|s|m|h|d)$/.exec(rate || '');
    return part ? Number(part[1]) / (Number(part[2] || 1) * UNITS[part[3]]) : 0;
  }

  function seconds(duration) {
    const value = Math.max(0, duration) / 1000;
    return (value < 10 ? (Math.ceil(value * 10) / 10).toFixed(1) : String(Math.ceil(value))) + ' s';
  }

  function plural(count, word) {
    return count + ' ' + word + (count === 1 ? '' : 's');
  }

  /** Sends a request. The result has the status 0 if there is no answer. */
  function send(method, uri, body) {
    const started = now();
    const request = { method: method, cache: 'no-store' };
    if (body) {
      request.headers = { 'Content-Type': 'application/json' };
      request.body = body;
    }
    return window.fetch(uri, request).then(function (response) {
      return response.text().then(function (text) {
        return { status: response.status, headers: response.headers, body: text, took: now() - started };
      });
    }, function () {
      return { status: 0, headers: null, body: '', took: now() - started };
    });
  }

  function json(answer) {
    try {
      return JSON.parse(answer.body);
    } catch (invalid) {
      return null;
    }
  }

  // ---- buckets

  let drawn = 0;

  /** Draws the bucket into the element, which names its limit and key. */
  function addBucket(element, card) {
    const clip = 'bucket-' + drawn++;
    const svg = draw('svg', { viewBox: '0 0 120 132', 'aria-hidden': 'true', focusable: 'false' }, element);
    const shape = 'M10 10 L110 10 L98 118 Q97 126 89 126 L31 126 Q23 126 22 118 Z';
    draw('path', { d: shape }, draw('clipPath', { id: clip }, draw('defs', {}, svg)));
    draw('path', { d: shape, class: 'inside' }, svg);
    const liquid = draw('g', { class: 'water' }, draw('g', { 'clip-path': 'url(#' + clip + ')' }, svg));
    draw('path', { class: 'wave', d: 'M-120 4 q15 -6 30 0 t30 0 t30 0 t30 0 t30 0 t30 0 t30 0 t30 0 t30 0 t30 0 t30 0 t30 0'
        + ' V140 H-120 Z' }, liquid);
    const bucket = {
      element: element,
      card: card,
      limit: element.getAttribute('data-limit'),
      svg: svg,
      marks: draw('g', { class: 'marks' }, svg),
      marked: 0,
      liquid: liquid,
      number: null,
      facts: null,
      shown: 0
    };
    draw('path', { d: shape, class: 'rim' }, svg);
    bucket.number = draw('text', { x: 60, y: 76, class: 'number' }, svg);
    bucket.capacity = draw('text', { x: 60, y: 97, class: 'capacity' }, svg);
    const words = create('p', 'words');
    bucket.owner = words.appendChild(create('strong', 'owner'));
    bucket.rule = words.appendChild(create('span', 'rule'));
    bucket.state = words.appendChild(create('span', 'state', ' '));
    element.appendChild(words);
    element.setAttribute('role', 'group');
    buckets.push(bucket);
    return bucket;
  }

  function keyOf(bucket) {
    return bucket.element.getAttribute('data-key').replace('{caller}', caller());
  }

  /** Lines at the permits, if there are few. */
  function mark(bucket, capacity) {
    if (bucket.marked === capacity) {
      return;
    }
    bucket.marked = capacity;
    bucket.marks.textContent = '';
    for (let permit = 1; permit < capacity && capacity <= 10; permit++) {
      const y = surface(permit, capacity);
      draw('path', { d: 'M' + (11 + (y - 10) / 9) + ' ' + y + ' h9' }, bucket.marks);
    }
  }

  /** Returns the height in the picture at which the permits reach. */
  function surface(level, capacity) {
    return 126 - 110 * Math.max(0, Math.min(1, level / capacity));
  }

  /** Asks for the bucket; not while an answer is under way, but once more after it. */
  function look(bucket) {
    if (bucket.looking) {
      bucket.lookAgain = true;
      return;
    }
    bucket.looking = true;
    const key = keyOf(bucket);
    send('GET', ENDPOINT + '/' + bucket.limit + '?key=' + encode(key)).then(function (answer) {
      bucket.looking = false;
      if (bucket.lookAgain || key !== keyOf(bucket)) {
        bucket.lookAgain = false;
        look(bucket);
      } else if (answer.status === 200) {
        know(bucket, json(answer));
      }
    });
  }

  function know(bucket, answer) {
    const time = now();
    bucket.facts = {
      capacity: answer.capacity,
      remaining: answer.remaining,
      fullAt: time + millis(answer.resetAfter),
      freeAt: answer.blockedFor ? time + millis(answer.blockedFor) : 0
    };
    animate();
  }

  /** Returns the permits in the bucket, with fractions where they come back one by one. */
  function level(bucket, time) {
    const facts = bucket.facts;
    const limit = limits[bucket.limit];
    if (time >= facts.fullAt) {
      return facts.capacity;
    }
    if (comesBackEvenly(limit)) {
      return Math.max(0, facts.capacity - (facts.fullAt - time) * permitsPerMilli(limit.rate));
    }
    return facts.remaining;
  }

  function comesBackEvenly(limit) {
    return limit && permitsPerMilli(limit.rate) > 0
        && (limit.algorithm === 'LEAKY_BUCKET' || limit.algorithm === 'TOKEN_BUCKET' && limit.refill === 'CONTINUOUS');
  }

  function describeRule(limit) {
    if (!limit) {
      return '';
    }
    if (!limit.enabled) {
      return 'turned off';
    }
    return (limit.algorithm === 'FIXED_WINDOW' ? '' : '+ ') + limit.rate + (limit.dryRun ? ', dry run' : '');
  }

  function setText(node, text) {
    if (node.textContent !== text) {
      node.textContent = text;
    }
  }

  /** Draws the bucket as it is now, and returns whether it will look different a moment later. */
  function paint(bucket, time) {
    const key = keyOf(bucket);
    const limit = limits[bucket.limit];
    setText(bucket.owner, key === '' ? 'everyone' : key);
    setText(bucket.rule, describeRule(limit));
    if (!bucket.facts) {
      return false;
    }
    const facts = bucket.facts;
    const permits = level(bucket, time);
    const blocked = facts.freeAt > time;
    const step = permits - bucket.shown;
    bucket.shown = calm || Math.abs(step) < 0.01 * facts.capacity ? permits : bucket.shown + step * 0.25;
    mark(bucket, facts.capacity);
    bucket.liquid.setAttribute('transform', 'translate(0 ' + (surface(bucket.shown, facts.capacity) - 4).toFixed(2) + ')');
    const whole = Math.floor(permits + 1e-6);
    setText(bucket.number, String(whole));
    setText(bucket.capacity, 'of ' + facts.capacity);
    const all = !comesBackEvenly(limit);
    setText(bucket.state, blocked ? 'blocked for ' + seconds(facts.freeAt - time)
        : facts.fullAt <= time ? 'full'
        : (all ? 'all back in ' : 'full in ') + seconds(facts.fullAt - time));
    bucket.element.setAttribute('aria-label',
        'Bucket of limit ' + bucket.limit + ': ' + whole + ' of ' + plural(facts.capacity, 'permit'));
    bucket.element.setAttribute('data-remaining', String(whole));
    const classes = 'bucket' + (blocked ? ' blocked' : '') + (whole === 0 ? ' empty' : '')
        + (facts.fullAt > time ? ' moving' : '');
    if (bucket.element.className !== classes) {
      bucket.element.className = classes;
    }
    return blocked || facts.fullAt > time || bucket.shown !== permits;
  }

  let scheduled = false;

  /** Draws the buckets now, and again as long as they change. */
  function animate() {
    const time = now();
    const moving = buckets.map(function (bucket) {
      return paint(bucket, time);
    }).indexOf(true) >= 0;
    if (moving && !scheduled) {
      scheduled = true;
      window.requestAnimationFrame(function () {
        scheduled = false;
        animate();
      });
    }
  }

  // ---- answers

  /** Returns a structured field's members: name, and the number of each parameter. */
  function members(field) {
    const found = [];
    const member = /"([^"]*)"((?:;[a-z]+=\d+)*)/g;
    for (let part = member.exec(field || ''); part; part = member.exec(field || '')) {
      const result = { name: part[1] };
      part[2].split(';').slice(1).forEach(function (parameter) {
        result[parameter.charAt(0)] = Number(parameter.slice(2));
      });
      found.push(result);
    }
    return found;
  }

  function field(answer, name) {
    return answer.headers ? answer.headers.get(name) : null;
  }

  /** Says in a sentence what the answer means. */
  function meaning(card, answer) {
    const left = members(field(answer, 'ratelimit'));
    if (answer.status === 0) {
      return 'No answer: the application does not run.';
    }
    if (answer.status === 429) {
      const problem = json(answer) || {};
      const by = (problem['violated-policies'] || []).join(' and ');
      const after = field(answer, 'retry-after');
      return 'Rejected by ' + by + '. ' + (after ? 'The same call can succeed in ' + after + ' s.'
          : 'It asks for more than the bucket can ever hold.');
    }
    if (answer.status === 503) {
      return 'Refused: Redis is away, and the limit does not allow calls without it.';
    }
    if (answer.status !== 200) {
      return (json(answer) || {}).detail || 'An error.';
    }
    if (left.length === 0) {
      return 'Allowed, without a limit in force.';
    }
    return 'Allowed. ' + left.map(function (member) {
      return plural(member.r, 'permit') + ' left of ' + member.name;
    }).join(', ') + '.' + (waited(card, answer) ? ' It waited for its turn: ' + seconds(answer.took) + '.' : '');
  }

  function waited(card, answer) {
    return card.waits && answer.status === 200 && answer.took > 400;
  }

  function show(card, answer, chip) {
    card.answers.querySelectorAll('[aria-pressed="true"]').forEach(function (other) {
      other.setAttribute('aria-pressed', 'false');
    });
    chip.setAttribute('aria-pressed', 'true');
    card.meaning.textContent = meaning(card, answer);
    card.meaning.className = 'meaning ' + kind(answer);
    const lines = [answer.status === 0 ? '(no answer)'
        : 'HTTP/1.1 ' + answer.status + ' ' + (REASONS[answer.status] || '')];
    FIELDS.forEach(function (name) {
      const value = field(answer, name);
      if (value) {
        lines.push(FIELD_NAMES[name] + ': ' + value);
      }
    });
    const body = json(answer);
    lines.push('', body ? JSON.stringify(body, null, 2) : answer.body);
    card.response.textContent = lines.join('\n').trim();
    card.details.hidden = false;
    card.result.hidden = false;
  }

  function kind(answer) {
    return answer.status === 200 ? 'allowed' : answer.status === 429 ? 'rejected' : 'failed';
  }

  function addChip(card) {
    const item = create('li');
    const chip = item.appendChild(create('button', 'chip pending', '…'));
    chip.type = 'button';
    chip.setAttribute('aria-label', 'Waiting for the answer');
    card.answers.appendChild(item);
    while (card.answers.children.length > MOST_ANSWERS) {
      card.answers.removeChild(card.answers.firstChild);
    }
    return chip;
  }

  function call(card) {
    const chip = addChip(card);
    return send(card.method, uri(card)).then(function (answer) {
      const text = answer.status === 0 ? 'none' : String(answer.status);
      chip.textContent = text;
      if (waited(card, answer)) {
        chip.appendChild(create('small', '', seconds(answer.took)));
      }
      chip.className = 'chip ' + kind(answer);
      chip.setAttribute('aria-label', 'Answer ' + text + ' after ' + Math.round(answer.took) + ' ms');
      chip.addEventListener('click', function () {
        show(card, answer, chip);
      });
      show(card, answer, chip);
      card.buckets.forEach(look);
      if (answer.status === 0) {
        lost();
      }
      return answer;
    });
  }

  function callOften(card, times) {
    const calls = [];
    for (let i = 0; i < times; i++) {
      calls.push(call(card));
    }
    Promise.all(calls).then(function (answers) {
      const allowed = answers.filter(function (answer) {
        return answer.status === 200;
      }).length;
      const rejected = answers.filter(function (answer) {
        return answer.status === 429;
      }).length;
      card.summary.textContent = plural(times, 'answer') + ': ' + allowed + ' allowed, ' + rejected + ' rejected.';
    });
  }

  // ---- cards

  function uri(card) {
    const number = card.number ? card.number.value : '';
    return card.uri.replace('{caller}', encode(caller())).replace('{number}', encode(number));
  }

  function curl(card) {
    return 'curl -si ' + (card.method === 'GET' ? '' : '-X ' + card.method + ' ') + "'" + window.location.origin + uri(card) + "'";
  }

  function addCard(element) {
    const card = {
      method: element.getAttribute('data-method'),
      uri: element.getAttribute('data-uri'),
      number: element.querySelector('input[type="number"]'),
      waits: element.hasAttribute('data-waits'),
      buckets: []
    };
    element.querySelectorAll('.buckets > div').forEach(function (each) {
      card.buckets.push(addBucket(each, card));
    });

    const actions = create('div', 'actions');
    const once = actions.appendChild(create('button', 'primary', card.method + ' ' + card.uri.split('?')[0]));
    once.type = 'button';
    once.addEventListener('click', function () {
      callOften(card, 1);
    });
    const often = actions.appendChild(create('button', 'ten', 'Ten at once'));
    often.type = 'button';
    often.addEventListener('click', function () {
      callOften(card, 10);
    });

    const line = create('div', 'curl');
    card.curl = line.appendChild(create('code', '', ''));
    card.curl.tabIndex = 0;
    const copy = line.appendChild(create('button', 'copy', 'Copy'));
    copy.type = 'button';
    copy.setAttribute('aria-label', 'Copy the curl line');
    copy.addEventListener('click', function () {
      copyText(card.curl, copy);
    });

    card.result = create('div', 'result');
    card.answers = card.result.appendChild(create('ol', 'answers'));
    card.answers.setAttribute('aria-label', 'Answers, the newest last');
    card.meaning = card.result.appendChild(create('p', 'meaning', 'Call it, and the answer appears here.'));
    card.summary = card.result.appendChild(create('p', 'summary'));
    card.summary.setAttribute('role', 'status');
    card.details = card.result.appendChild(create('details'));
    card.details.appendChild(create('summary', '', 'The answer'));
    card.response = card.details.appendChild(create('pre', 'response'));
    card.response.tabIndex = 0;
    card.details.hidden = true;
    const wide = element.className.indexOf('wide') >= 0;
    card.details.open = wide;
    card.result.hidden = !wide;

    const changes = element.querySelector('.change');
    element.insertBefore(actions, changes);
    element.insertBefore(line, changes);
    element.appendChild(card.result);
    if (card.number) {
      card.number.addEventListener('input', function () {
        card.curl.textContent = curl(card);
      });
    }
    cards.push(card);
  }

  /** Copies the text, or selects it where the browser permits no more. */
  function copyText(element, button) {
    function say(text) {
      button.textContent = text;
      window.setTimeout(function () {
        button.textContent = 'Copy';
      }, 1500);
    }
    function select() {
      window.getSelection().selectAllChildren(element);
      say('Selected');
    }
    if (window.navigator.clipboard) {
      window.navigator.clipboard.writeText(element.textContent).then(function () {
        say('Copied');
      }, select);
    } else {
      select();
    }
  }

  function change(fieldset, body) {
    const uri = ENDPOINT + '/' + fieldset.getAttribute('data-limit');
    send(body ? 'POST' : 'DELETE', uri, body).then(function (answer) {
      if (answer.status === 405) {
        setText(fieldset.querySelector('legend'), 'The endpoint can only be read: see management.endpoint.ratelimits.access');
      }
      refresh();
    });
  }

  // ---- the application

  function lost() {
    document.body.className = 'lost';
    setText(storeText, 'No answer. Start the application, and the page goes on.');
  }

  function describeStore(store) {
    if (store.state === 'shared') {
      return 'Shared by all instances, in Redis';
    }
    return store.state === 'instance' ? 'In the memory of this instance'
        : 'Redis is away: each limit applies its policy';
  }

  function refresh() {
    return send('GET', ENDPOINT).then(function (answer) {
      const known = answer.status === 200 ? json(answer) : null;
      if (!known) {
        lost();
        return;
      }
      document.body.className = known.store.state === 'on-store-failure' ? 'failing' : '';
      setText(storeText, describeStore(known.store));
      limits = known.limits;
      document.querySelectorAll('.change button').forEach(function (button) {
        const limit = limits[button.parentNode.getAttribute('data-limit')];
        button.setAttribute('aria-pressed', String(isInForce(limit, button.getAttribute('data-change'))));
      });
      buckets.forEach(look);
      animate();
    });
  }

  function isInForce(limit, change) {
    if (!limit || !change) {
      return Boolean(limit) && !limit.override;
    }
    const wanted = JSON.parse(change);
    return Boolean(limit.override) && Object.keys(wanted).every(function (name) {
      return name === 'duration' || limit.override[name] === wanted[name];
    });
  }

  function callAs(name) {
    callerInput.value = name;
    callerChanged();
  }

  function callerChanged() {
    document.querySelectorAll('[data-caller]').forEach(function (button) {
      button.setAttribute('aria-pressed', String(button.getAttribute('data-caller') === caller()));
    });
    cards.forEach(function (card) {
      card.curl.textContent = curl(card);
    });
    buckets.forEach(look);
    animate();
  }

  function start() {
    document.querySelectorAll('.card').forEach(addCard);
    document.querySelectorAll('[data-caller]').forEach(function (button) {
      button.addEventListener('click', function () {
        callAs(button.getAttribute('data-caller'));
      });
    });
    document.querySelectorAll('[data-change]').forEach(function (button) {
      button.addEventListener('click', function () {
        change(button.parentNode, button.getAttribute('data-change'));
      });
    });
    callerInput.addEventListener('input', callerChanged);
    document.getElementById('caller-form').addEventListener('submit', function (event) {
      event.preventDefault();
    });
    callerChanged();
    refresh();
    window.setInterval(function () {
      if (!document.hidden) {
        refresh();
      }
    }, REFRESH_MILLIS);
  }

  start();
})();
