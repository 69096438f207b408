/* Shows all limits, those that reject first, and the instances. */
(function (page) {
  'use strict';

  const dom = page.dom;
  const format = page.format;

  const NO_CALLS = { allowed: 0, rejected: 0, dryRunRejected: 0, refused: 0 };

  /** With fewer limits, searching is not worth its place. */
  const SEARCHABLE = 8;

  const LONGEST_ERROR = 240;

  /** More instances than these are counted and not named. */
  const NAMED = 5;

  /** More limits of a server that fails are counted and not named. */
  const CONCERNED = 20;

  /** A number of calls, unless they are not counted. */
  function count(limit, series) {
    return limit.lastMinute ? format.number(limit.lastMinute[series] || 0) : '–';
  }

  function lastMinute(limit) {
    return limit.lastMinute || NO_CALLS;
  }

  /** Describes a limit in one line: 5 at once, 1/s, token bucket. */
  function numbers(limit) {
    return [format.number(limit.capacity) + ' at once', limit.rate, limit.algorithm && format.words(limit.algorithm)]
      .filter(Boolean).join(' · ');
  }

  /** Whether no call of a limit has a key, so that all share one bucket. */
  function isShared(limit) {
    const all = charges(limit);
    return all.length > 0 && !all.some(charge => charge.key);
  }

  function charges(limit) {
    return [limit.methods || {}, limit.requests || {}]
      .reduce((all, places) => all.concat(Object.keys(places).map(place => places[place])), []);
  }

  /** The permits of a concurrency limit that calls of this instance hold; of how many, if there is one bucket. */
  function inUse(limit) {
    return format.number(limit.thisInstance.permitsInUse) + (isShared(limit) ? ' of ' + format.number(limit.capacity) : '');
  }

  function waiting(limit) {
    return limit.thisInstance ? limit.thisInstance.waitingCalls : 0;
  }

  /** Whether calls need more permits of a concurrency limit than it has, as far as this instance knows. */
  function isSaturated(limit) {
    const held = limit.thisInstance && limit.thisInstance.permitsInUse;
    return typeof held === 'number' && (waiting(limit) > 0 || isShared(limit) && held >= limit.capacity);
  }

  /** Says what the calls of this instance hold and wait for; nothing if they do neither. */
  function load(limit) {
    const all = [];
    if (limit.thisInstance && limit.thisInstance.permitsInUse) {
      all.push(inUse(limit) + ' in use');
    }
    if (waiting(limit)) {
      all.push(format.plural(waiting(limit), 'call waits', 'calls wait'));
    }
    return all.length ? all.join(', ') + ', on this instance' : '';
  }

  /** What is special about a limit, for its badges. */
  function badges(limit) {
    const all = [];
    if (!limit.enabled) {
      all.push('off');
    }
    if (limit.dryRun) {
      all.push('dry run');
    }
    if (limit.override) {
      all.push(limit.override.problem ? 'override with a problem' : 'override');
    }
    if (limit.scope === 'INSTANCE') {
      all.push('per instance');
    } else if (limit.redis) {
      all.push('Redis ' + limit.redis);
    }
    return all;
  }

  function showBadges(holder, limit) {
    dom.list(holder, badges(limit), each => each,
      each => dom.element('span', { class: 'badge ' + each.split(' ')[0] }, [each]), () => {});
    dom.show(holder, holder.firstChild !== null);
  }

  function share(calls) {
    return format.percent(calls.rejected, calls.allowed + calls.rejected + calls.dryRunRejected + calls.refused);
  }

  function refused(calls) {
    return calls.refused > 0 ? format.number(calls.refused) + ' refused' : '';
  }

  /**
   * Returns what happens to a limit's calls: a word, its style, and since when.
   *
   * @param lost the Redis server of the limit, if it fails: empty if there is one alone; null if it does not fail
   */
  function state(limit, since, now, lost) {
    const calls = lastMinute(limit);
    if (calls.rejected > 0) {
      return { word: 'Rejecting', style: 'bad', since: since ? sinceText(since, now) : '' };
    }
    if (calls.refused > 0) {
      return { word: 'Refusing', style: 'bad', since: because(limit, lost) };
    }
    if (lost !== null && limit.enabled) {
      return { word: 'Not shared', style: 'bad', since: because(limit, lost) };
    }
    if (isSaturated(limit) && limit.enabled) {
      return { word: 'Saturated', style: 'warn', since: '' };
    }
    if (!limit.enabled) {
      return { word: 'Off', style: 'muted', since: '' };
    }
    if (calls.dryRunRejected > 0) {
      return { word: 'Would reject', style: 'warn', since: 'dry run' };
    }
    if (!limit.lastMinute) {
      return { word: 'Not counted', style: 'muted', since: '' };
    }
    return calls.allowed > 0
      ? { word: 'Allowing', style: 'good', since: '' } : { word: 'No calls', style: 'muted', since: '' };
  }

  /** What happens to the calls of a limit while its store fails. */
  const POLICIES = { LOCAL: 'each instance limits alone', ALLOW: 'all calls are allowed', REJECT: 'calls are refused', THROW: 'calls fail' };

  function because(limit, lost) {
    return (lost ? 'Redis server ' + lost + ' fails: ' : '') + (POLICIES[limit.onStoreFailure] || 'the store fails');
  }

  function sinceText(since, now) {
    return since.longer ? 'for more than 14 min'
      : 'since ' + format.clock(since.time, true) + ' (' + format.span(now - since.time) + ')';
  }

  /** Less of a difference than this may be chance. */
  const SAME = 0.2;

  function compared(now, before, fewer, same, more) {
    return now < before * (1 - SAME) ? fewer : now > before * (1 + SAME) ? more : same;
  }

  /** Says how the calls of a limit differ from those before it began to reject. */
  function comparison(change) {
    return change.before === 0 ? '' : compared(change.calls, change.before, 'fewer calls, ', 'as many calls as before, ',
      'calls × ' + format.perSecond(change.calls / change.before) + ', ')
      + compared(change.allowed, change.before, 'fewer allowed', 'as many allowed', 'more allowed');
  }

  /** Fewer rejected calls do not tell who causes them. */
  const TELLING = 20;

  /** An instance that started this long before a limit began to reject may apply other numbers than the one before it. */
  const RESTART = 3 * 60 * 1000;

  /** The first calls, and rejections, come a while after a start. */
  const GAP = 10 * 1000;

  /**
   * Says what that probably means, for a limit with a bucket for each caller; otherwise nothing.
   *
   * @param keys the most rejected ones, if they are counted
   * @param instances those that are known
   */
  function verdict(limit, change, keys, instances) {
    const charges = [limit.methods || {}, limit.requests || {}]
      .reduce((all, places) => all.concat(Object.keys(places).map(place => places[place])), []);
    if (change.before === 0 || !charges.some(charge => charge.key)) {
      return '';
    }
    const restart = restarted(change, instances || []);
    const who = byKeys(keys || [], change);
    return [restart, who || restart ? who : byCalls(limit, change)].filter(Boolean).join(' ');
  }

  /** Says that instances were replaced shortly before: then the calls of the minute before are not comparable, either. */
  function restarted(change, instances) {
    const starts = instances.map(instance => Date.parse(instance.startedAt))
      .filter(time => time > change.first + GAP && time > change.began - RESTART && time < change.began + GAP);
    return starts.length ? (starts.length === 1 ? 'An instance started at ' : 'Instances started, the first at ')
      + format.clock(Math.min.apply(null, starts), true) + ': compare the numbers of the limit with those before.' : '';
  }

  function byKeys(keys, change) {
    const who = fewOrMany(keys);
    return who === '' ? '' : who === 'few' ? 'One or two callers have most of the rejected calls: probably they repeat rejected calls.'
      : 'The rejected calls are those of many callers: ' + (change.allowed > change.before * (1 + SAME)
        ? 'probably all callers call more.' : 'probably the limit is too low.');
  }

  /** Whether a few or many callers have most of the rejected calls; nothing if the keys do not tell. */
  function fewOrMany(keys) {
    const rejected = keys.map(each => each.rejected).sort((one, other) => other - one);
    const all = rejected.reduce((sum, each) => sum + each, 0);
    const two = (rejected[0] || 0) + (rejected[1] || 0);
    return all < TELLING || two > all / 4 && two < all / 2 ? '' : two >= all / 2 ? 'few' : 'many';
  }

  /** Names the most rejected callers of a limit, or says why they are not known. */
  function callers(limit, own, keys) {
    if (isShared(limit)) {
      return 'All callers share one bucket';
    }
    if (!own.topKeys) {
      return 'Not counted (ratelimit.top-keys.enabled)';
    }
    if (keys === null) {
      return 'Not known yet: the keys are those of five minutes, with an earlier incident';
    }
    const who = fewOrMany(keys);
    const named = keys.slice(0, who === 'few' ? 2 : 3).filter(each => who !== 'few' || each.rejected >= keys[0].rejected / 4);
    return keys.length === 0 ? null : (who === 'many' ? 'Many: ' : '') + named.map(rejectedOf(each => each.key, each => each.rejected)).join(', ')
      + (who !== 'few' && keys.length > named.length ? ' and more' : '');
  }

  /** Names the instances that reject calls of a limit. */
  function rejectingInstances(own, data) {
    const counts = own.byInstance || {};
    const names = Object.keys(counts).filter(name => counts[name].rejected > 0)
      .sort((one, other) => counts[other].rejected - counts[one].rejected || (one < other ? -1 : 1));
    const alone = names.length === 1 && (data.instances || []).length > 1;
    return names.length === 0 ? null : listed(names.map(rejectedOf(name => name, name => counts[name].rejected)), NAMED)
      + (alone ? ', no other instance' : '');
  }

  /** The first number says what it is. */
  function rejectedOf(name, rejected) {
    return (each, index) => name(each) + ' (' + format.number(rejected(each)) + (index === 0 ? ' rejected)' : ')');
  }

  /** Says what an override sets, since when, and who made it. Its version is the time of the change, in microseconds. */
  function override(present, now) {
    return page.changes.summary(present) + ', since ' + format.moment(present.version / 1000, now)
      + (present.principal ? ', by ' + present.principal : '');
  }

  /** Returns the name of the limit that rejects most; null if none does. */
  function worst(data) {
    const all = rejecting(data);
    return all.length ? all[0] : null;
  }

  function rejecting(data) {
    return Object.keys(data.limits).map(name => ({ name, limit: data.limits[name], lost: null }))
      .filter(item => lastMinute(item.limit).rejected > 0).sort(compare).map(item => item.name);
  }

  function byCalls(limit, change) {
    // What two callers alone can add, in a minute.
    const two = 2 * (format.permitsPerSecond(limit.rate) + limit.capacity / 60);
    return change.allowed > change.before * (1 + SAME) && change.allowed - change.before <= two
      ? 'One or two callers can explain what is allowed more: probably they repeat rejected calls.'
      : compared(change.allowed, change.before,
        'Fewer calls are allowed than before: probably the limit is too low.',
        'As many calls are allowed as before: probably a few callers repeat rejected calls.',
        'More calls are allowed than before: probably all callers call more.');
  }

  /** Fewer rejected calls than this are a matter of course. */
  const ALARMING = 0.05;

  /** First what rejects most. */
  function compare(one, other) {
    const a = lastMinute(one.limit);
    const b = lastMinute(other.limit);
    return b.rejected - a.rejected || b.refused - a.refused || (other.lost !== null) - (one.lost !== null)
      || isSaturated(other.limit) - isSaturated(one.limit) || b.dryRunRejected - a.dryRunRejected
      || b.allowed - a.allowed || (one.name < other.name ? -1 : 1);
  }

  function Overview() {
    const body = dom.byId('limits');
    const filter = dom.byId('filter');
    let order = [];
    let latest = null;
    let heard = [];

    filter.addEventListener('input', () => latest && rows(latest));

    /** @param own what the endpoint answers for the limit alone that rejects most, or null */
    function update(data, history, now, own) {
      latest = { data, history, now };
      finding(data, history, now, own);
      totals(data);
      rows(latest);
      instances(data, now);
    }

    /** Says of the limit that rejects most since when it does, which callers, on which instances, and probably why. */
    function finding(data, history, now, own) {
      const name = worst(data);
      dom.show(dom.byId('finding'), name !== null);
      if (name === null) {
        return;
      }
      const limit = data.limits[name];
      const calls = lastMinute(limit);
      const since = history.since(name, now);
      const change = history.change(name, now);
      const others = rejecting(data).slice(1);
      const keys = history.keys(name, (own && own.topKeys) || [], now);
      dom.mark(dom.byId('finding'), 'bad', calls.rejected >= ALARMING * (calls.rejected + calls.allowed));
      dom.text(dom.byId('finding-title'), name + ' has rejected calls' + (since ? ' ' + sinceText(since, now) : ''));
      dom.facts(dom.byId('finding-facts'), [
        ['Calls', change === null
          ? format.number(calls.rejected) + ' rejected and ' + format.number(calls.allowed) + ' allowed in the last minute'
          : 'Before: ' + format.perSecond(change.before) + ' per second allowed. Now: ' + format.perSecond(change.allowed) + ' of '
            + format.perSecond(change.calls) + ' per second allowed.'],
        ['Callers', own && callers(limit, own, keys)],
        ['Instances', own && rejectingInstances(own, data)],
        ['Override', limit.override ? override(limit.override, now) : null],
        ['Why', (change !== null && verdict(limit, change, keys, data.instances)) || null],
        ['Also', others.length ? listed(others, NAMED) + (others.length === 1 ? ' rejects calls' : ' reject calls') : null]
      ]);
    }

    function totals(data) {
      const limits = Object.keys(data.limits).map(name => data.limits[name]);
      const sum = sumOf(limits);
      const rejecting = limits.filter(limit => lastMinute(limit).rejected > 0).length;
      dom.text(dom.byId('total-rejected'), format.number(sum.rejected));
      dom.text(dom.byId('total-share'), [share(sum) && share(sum) + ' of all calls', refused(sum)].filter(Boolean).join(', '));
      dom.text(dom.byId('total-allowed'), format.number(sum.allowed));
      dom.text(dom.byId('total-rejecting'), format.number(rejecting));
      dom.text(dom.byId('total-limits'), 'of ' + format.number(limits.length));
      dom.mark(dom.byId('tile-rejected'), 'bad', sum.rejected > 0);
      const notHeard = (data.instances || []).filter(missing).length;
      const known = (data.instances || []).filter(instance => !missing(instance)).concat(unheard(data));
      const alone = known.filter(instance => instance.state !== 'shared').length;
      dom.text(dom.byId('total-instances'), format.number(Math.max(1, known.length)));
      dom.text(dom.byId('total-shared'), data.store.kind === 'in-memory' ? 'each on its own'
        : data.store.servers ? ofServers(data, alone)
          : data.store.state === 'on-store-failure' ? (known.length > 1 ? 'one on its own, others unknown' : 'on its own, others unknown')
            : (alone === 0 ? 'share the limits' : format.number(alone) + ' on ' + (alone === 1 ? 'its' : 'their') + ' own')
              + (notHeard ? ', ' + format.number(notHeard) + ' not heard' : ''));
    }

    function ofServers(data, alone) {
      return data.figures !== 'all-instances' ? 'others unknown'
        : alone === 0 ? 'share the limits' : format.plural(alone, 'does', 'do') + ' not share all limits';
    }

    function sumOf(limits) {
      return limits.reduce((sum, limit) => {
        const calls = lastMinute(limit);
        return {
          allowed: sum.allowed + calls.allowed,
          rejected: sum.rejected + calls.rejected,
          dryRunRejected: sum.dryRunRejected + calls.dryRunRejected,
          refused: sum.refused + calls.refused
        };
      }, NO_CALLS);
    }

    function rows(now) {
      const names = Object.keys(now.data.limits);
      const wanted = filter.value.trim().toLowerCase();
      let items = names.map(name => ({ name, limit: now.data.limits[name], lost: page.store.lost(now.data, name) })).sort(compare);
      // Rows stay where they are while one of them is focused or pointed at.
      if (body.contains(document.activeElement) || (body.matches && body.matches(':hover'))) {
        items.sort((one, other) => position(one.name) - position(other.name));
      }
      order = items.map(item => item.name);
      items = items.filter(item => item.name.toLowerCase().indexOf(wanted) >= 0);
      dom.list(body, items, item => item.name, row, (node, item) => updateRow(node, item, now));
      dom.show(dom.byId('search'), names.length >= SEARCHABLE || wanted !== '');
      dom.show(dom.byId('limits-table'), items.length > 0);
      dom.show(dom.byId('legend'), items.length > 0);
      dom.show(dom.byId('no-limits'), items.length === 0);
      dom.text(dom.byId('no-limits'), names.length ? 'No limit has such a name.'
        : 'The application has no limits: no bean with @RateLimited, and none in ratelimit.limits.');
    }

    function position(name) {
      const index = order.indexOf(name);
      return index < 0 ? order.length : index;
    }

    function row(item) {
      const cell = (style, children) => dom.element('td', { role: 'cell', class: style }, children);
      const node = dom.element('tr', { role: 'row', 'data-limit': item.name }, [
        dom.element('th', { role: 'rowheader', scope: 'row', class: 'name' }, [
          dom.element('a', { href: '#/limit/' + encodeURIComponent(item.name) }, [item.name]),
          dom.element('span', { class: 'badges' }),
          dom.element('span', { class: 'numbers' })
        ]),
        cell('spark', [page.charts.sparkline()]),
        cell('number allowed', []),
        cell('number rejected', [dom.element('span', { class: 'count' }), dom.element('span', { class: 'share' })]),
        cell('state', [dom.element('span', { class: 'word' }), dom.element('span', { class: 'since' }),
          dom.element('span', { class: 'since change-since' }), dom.element('span', { class: 'since load' })])
      ]);
      return node;
    }

    function updateRow(node, item, now) {
      const cells = node.childNodes;
      const calls = lastMinute(item.limit);
      const rates = now.history.rates(item.name, now.now);
      const current = state(item.limit, now.history.since(item.name, now.now), now.now, item.lost);
      showBadges(cells[0].childNodes[1], item.limit);
      dom.text(cells[0].childNodes[2], numbers(item.limit));
      page.charts.updateSparkline(cells[1].firstChild, rates, peak(rates));
      dom.text(cells[2], count(item.limit, 'allowed'));
      dom.text(cells[3].firstChild, count(item.limit, 'rejected'));
      dom.text(cells[3].lastChild, [share(calls), refused(calls)].filter(Boolean).join(', '));
      dom.text(cells[4].firstChild, current.word);
      dom.set(cells[4].firstChild, 'class', 'word ' + current.style);
      dom.text(cells[4].childNodes[1], current.since);
      const change = calls.rejected > 0 ? now.history.change(item.name, now.now) : null;
      dom.text(cells[4].childNodes[2], change === null ? '' : comparison(change));
      dom.text(cells[4].lastChild, load(item.limit));
      dom.mark(node, 'rejecting', calls.rejected > 0);
    }

    function peak(rates) {
      const most = series => Math.max.apply(null, (rates.series[series] || []).concat(0));
      return 'Last 15 minutes: at most ' + format.perSecond(most('allowed')) + ' per second allowed, '
        + format.perSecond(most('rejected')) + ' rejected';
    }

    /** While the figures are those of one instance, the other ones that were there before. */
    function unheard(data) {
      const present = data.instances || [];
      if (data.figures === 'all-instances') {
        heard = present;
      }
      return data.store.state !== 'on-store-failure' ? [] : heard
        .filter(instance => !present.some(other => other.name === instance.name))
        .map(instance => ({ name: instance.name, startedAt: instance.startedAt, lastSeenAt: instance.lastSeenAt, state: 'unknown' }));
    }

    function instances(data, now) {
      // First those that need attention, then as they have started.
      const all = (data.instances || []).concat(unheard(data));
      const known = all.filter(inTrouble).concat(all.filter(instance => !inTrouble(instance)));
      dom.list(dom.byId('instances'), known, instance => instance.name,
        instance => dom.element('tr', { 'data-instance': instance.name }, [
          dom.element('th', { scope: 'row', class: 'long' }, [instance.name]), dom.element('td'), dom.element('td'), dom.element('td')
        ]),
        (node, instance) => {
          const cells = node.childNodes;
          dom.text(cells[0], instance.name + (instance.name === data.instance ? ' (answers here)' : ''));
          dom.text(cells[1], page.store.ofInstance(instance, data));
          dom.set(cells[1], 'class', inTrouble(instance) ? 'word bad' : '');
          dom.text(cells[2], format.moment(Date.parse(instance.startedAt), now));
          dom.text(cells[3], format.ago(Date.parse(instance.lastSeenAt), now));
        });
      dom.show(dom.byId('instances-table'), known.length > 0);
      dom.show(dom.byId('no-instances'), known.length === 0);
      dom.text(dom.byId('no-instances'), 'Only ' + data.instance + ' is known, which answers here.');
    }

    return { update };
  }

  /** Some errors of Redis are a page of advice. */
  function beginning(error) {
    return error.length > LONGEST_ERROR ? error.slice(0, LONGEST_ERROR) + ' …' : error;
  }

  function fails(store) {
    return store.state === 'on-store-failure';
  }

  /** Whether an instance was killed, or cannot reach Redis. One that stops in order is forgotten. */
  function missing(instance) {
    return instance.state === 'not-heard';
  }

  function inTrouble(instance) {
    return fails(instance) || missing(instance);
  }

  /** Why a store fails, and since when. */
  function why(store, now) {
    return format.words(store.reason || 'unknown reason') + (store.since ? ', ' + since(store, now) : '');
  }

  function since(store, now) {
    const time = store.since ? Date.parse(store.since) : null;
    return time ? 'since ' + format.moment(time, now) + ' (' + format.span(now - time) + ')' : '';
  }

  function listed(names, most) {
    return names.slice(0, most).join(', ')
      + (names.length > most ? ' and ' + format.number(names.length - most) + ' more' : '');
  }

  /** Why an instance does not share all limits: of several Redis servers those that fail, and the reason. */
  function cause(instance) {
    const words = (instance.failingServers || []).concat(instance.reason ? format.words(instance.reason) : []);
    return words.length ? ' (' + words.join(', ') + ')' : '';
  }

  function failingServers(data) {
    const servers = data.store.servers || {};
    return Object.keys(servers).filter(name => fails(servers[name]));
  }

  /** Of several Redis servers the one that a limit is counted in; null if there is one, or the limit is in memory. */
  function serverOf(data, limit) {
    const plain = name => name.toLowerCase().replace(/[-_]/g, '');
    const wanted = plain(limit.redis || 'default');
    const found = Object.keys(data.store.servers || {}).filter(name => plain(name) === wanted);
    return limit.scope === 'INSTANCE' || found.length === 0 ? null : found[0];
  }

  /** Says whether instances share the limits. */
  page.store = {
    ofInstance(instance, data) {
      return instance.state === 'shared' ? 'shared' : instance.state === 'unknown' ? 'unknown, nothing heard'
        : missing(instance) ? 'not heard: killed, or without Redis'
        : instance.state === 'instance' ? 'its own, in memory'
          : (data.store.servers ? 'some not shared' : 'not shared') + cause(instance);
    },

    /** Of several Redis servers the one of a limit, if it fails, and empty if the only one fails; otherwise null. */
    lost(data, name) {
      const limit = data.limits[name];
      if (!data.store.servers) {
        return fails(data.store) && limit.scope !== 'INSTANCE' ? '' : null;
      }
      const server = serverOf(data, limit);
      return server !== null && fails(data.store.servers[server]) ? server : null;
    },

    /** What differs if one more or less of the servers fails. */
    failing(data) {
      return [data.store.state].concat(failingServers(data)).join();
    },

    /** Several Redis servers, first those that fail: name, whether it fails, since when and why, and its limits. */
    servers(data, now) {
      const failing = failingServers(data);
      return failing.concat(Object.keys(data.store.servers || {}).filter(name => failing.indexOf(name) < 0)).map(name => {
        const server = data.store.servers[name];
        const limits = Object.keys(data.limits).filter(limit => serverOf(data, data.limits[limit]) === name);
        return { name, fails: fails(server),
          state: fails(server) ? 'fails: ' + why(server, now) : 'decides',
          limits: limits.length === 0 ? 'No limits' : fails(server)
            ? 'Limits, with their on-store-failure: ' + listed(limits.map(limit =>
              limit + ' (' + format.words(data.limits[limit].onStoreFailure) + ')'), CONCERNED)
            : 'Limits: ' + listed(limits, NAMED),
          error: server.error ? beginning(server.error) : '' };
      });
    },

    /** The banner above the limits, or null if there is nothing to tell. */
    banner(data, now) {
      const store = data.store;
      const lost = failingServers(data);
      if (lost.length) {
        const all = Object.keys(store.servers).length;
        const limits = Object.keys(data.limits);
        const concerned = limits.filter(name => page.store.lost(data, name) !== null).length;
        return { style: 'bad', title: (lost.length === 1 ? 'Redis server ' + lost[0] + ' fails' : lost.length + ' of ' + all + ' Redis servers fail')
            + ': ' + format.number(concerned) + ' of ' + format.plural(limits.length, 'limit is', 'limits are') + ' not shared',
          text: (concerned ? 'The policy on-store-failure applies to ' + (concerned === 1 ? 'it' : 'these') + '. ' : '')
            + (lost.length < all ? 'Limits of ' + (all - lost.length === 1 ? 'the other server' : 'the other servers') + ' go on.' : '')
            + (data.figures === 'instance' ? ' The figures are those of this instance alone.' : '') };
      }
      if (store.state === 'on-store-failure') {
        const who = store.kind === 'redis' ? 'Redis' : 'the store';
        return { style: 'bad', title: 'Limits are not shared: ' + who + ' fails',
          text: 'Reason: ' + why(store, now) + (store.error ? ' (' + beginning(store.error).replace(/[.]$/, '') + ')' : '') + '. Until '
            + who + ' is back, the policy on-store-failure of each limit applies.' + (data.figures === 'instance'
            ? ' Figures and charts are now those of this instance alone; what the other instances do is unknown.' : '') };
      }
      const failing = (data.instances || []).filter(fails);
      if (failing.length) {
        return { style: 'bad', title: format.plural(failing.length, 'instance does', 'instances do') + ' not share ' + (store.servers ? 'all' : 'the') + ' limits',
          text: listed(failing.map(instance => instance.name + cause(instance)), NAMED) + '. There, the policy on-store-failure of each limit applies.' };
      }
      const lostInstances = (data.instances || []).filter(missing);
      if (lostInstances.length) {
        return { style: 'warn', title: format.plural(lostInstances.length, 'instance is', 'instances are') + ' not heard',
          text: listed(lostInstances.map(instance => instance.name), NAMED)
            + (lostInstances.length === 1 ? ' was killed, or cannot' : ' were killed, or cannot') + ' reach Redis. The others share the limits.' };
      }
      if (!data.figures) {
        return { style: 'warn', title: 'No figures', text: 'This instance does not count calls (ratelimit.statistics.enabled).' };
      }
      if (data.figures === 'instance' && store.kind !== 'in-memory') {
        return { style: 'warn', title: 'Figures of this instance alone',
          text: 'The figures of the other instances cannot be read now.' };
      }
      return store.state === 'instance'
        ? { style: '', title: 'Each instance on its own', text: 'The limits are kept in memory. The figures are those of '
          + data.instance + '.' }
        : { style: 'good', title: 'Shared by all instances', text: 'Permits are counted in '
          + (store.servers ? format.number(Object.keys(store.servers).length) + ' Redis servers' : store.kind === 'redis' ? 'Redis' : 'the application’s own store') + '.' };
    }
  };

  page.limits = { worst, callers, numbers, badges, showBadges, state, lastMinute, share, verdict, inUse, waiting, isSaturated, isShared };
  page.Overview = Overview;
})(window.RateLimits = window.RateLimits || {});
