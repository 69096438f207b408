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

  /** Returns what happens to a limit's calls: a word, its style, and since when. */
  function state(limit, since, now) {
    const calls = lastMinute(limit);
    if (calls.rejected > 0) {
      return { word: 'Rejecting', style: 'bad', since: since ? sinceText(since, now) : '' };
    }
    if (calls.refused > 0) {
      return { word: 'Refusing', style: 'bad', since: 'the store fails' };
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

  /** Says what that probably means, for a limit with a bucket for each caller; otherwise nothing. */
  function verdict(limit, change) {
    const charges = [limit.methods || {}, limit.requests || {}]
      .reduce((all, places) => all.concat(Object.keys(places).map(place => places[place])), []);
    if (change.before === 0 || !charges.some(charge => charge.key)) {
      return '';
    }
    // What two callers alone can add, in a minute.
    const two = 2 * (format.permitsPerSecond(limit.rate) + limit.capacity / 60);
    return change.allowed > change.before * (1 + SAME) && change.allowed - change.before <= two
      ? 'One or two callers can explain what is allowed more: probably they repeat rejected calls.'
      : compared(change.allowed, change.before,
        'Fewer calls are allowed than before: probably the limit is too low.',
        'As many calls are allowed as before: probably a few callers repeat rejected calls.',
        'More calls are allowed than before: probably all callers call more.');
  }

  /** First what rejects most. */
  function compare(one, other) {
    const a = lastMinute(one.limit);
    const b = lastMinute(other.limit);
    return b.rejected - a.rejected || b.refused - a.refused || b.dryRunRejected - a.dryRunRejected
      || b.allowed - a.allowed || (one.name < other.name ? -1 : 1);
  }

  function Overview() {
    const body = dom.byId('limits');
    const filter = dom.byId('filter');
    let order = [];
    let latest = null;

    filter.addEventListener('input', () => latest && rows(latest));

    function update(data, history, now) {
      latest = { data, history, now };
      totals(data);
      rows(latest);
      instances(data, now);
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
      const known = data.instances || [];
      const alone = known.filter(instance => instance.state !== 'shared').length;
      dom.text(dom.byId('total-instances'), format.number(Math.max(1, known.length)));
      dom.text(dom.byId('total-shared'), data.store.kind === 'in-memory' ? 'each on its own'
        : data.store.state === 'on-store-failure' ? 'on its own, others unknown' : alone === 0 ? 'share the limits' : format.number(alone) + ' on ' + (alone === 1 ? 'its' : 'their') + ' own');
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
      let items = names.map(name => ({ name, limit: now.data.limits[name] })).sort(compare);
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
          dom.element('span', { class: 'since change-since' })])
      ]);
      return node;
    }

    function updateRow(node, item, now) {
      const cells = node.childNodes;
      const calls = lastMinute(item.limit);
      const rates = now.history.rates(item.name, now.now);
      const current = state(item.limit, now.history.since(item.name, now.now), now.now);
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
      dom.text(cells[4].lastChild, change === null ? '' : comparison(change));
      dom.mark(node, 'rejecting', calls.rejected > 0);
    }

    function peak(rates) {
      const most = series => Math.max.apply(null, (rates.series[series] || []).concat(0));
      return 'Last 15 minutes: at most ' + format.perSecond(most('allowed')) + ' per second allowed, '
        + format.perSecond(most('rejected')) + ' rejected';
    }

    function instances(data, now) {
      // First those that need attention, then as they have started.
      const fails = instance => instance.state === 'on-store-failure';
      const all = data.instances || [];
      const known = all.filter(fails).concat(all.filter(instance => !fails(instance)));
      dom.list(dom.byId('instances'), known, instance => instance.name,
        instance => dom.element('tr', { 'data-instance': instance.name }, [
          dom.element('th', { scope: 'row', class: 'long' }, [instance.name]), dom.element('td'), dom.element('td'), dom.element('td')
        ]),
        (node, instance) => {
          const cells = node.childNodes;
          dom.text(cells[0], instance.name + (instance.name === data.instance ? ' (answers here)' : ''));
          dom.text(cells[1], page.store.ofInstance(instance));
          dom.set(cells[1], 'class', fails(instance) ? 'word bad' : '');
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

  /** Says whether instances share the limits. */
  page.store = {
    ofInstance(instance) {
      return instance.state === 'shared' ? 'shared'
        : instance.state === 'instance' ? 'its own, in memory'
          : 'not shared' + (instance.reason ? ' (' + format.words(instance.reason) + ')' : '');
    },

    /** The banner above the limits, or null if there is nothing to tell. */
    banner(data, now) {
      const store = data.store;
      if (store.state === 'on-store-failure') {
        const since = store.since ? Date.parse(store.since) : null;
        return { style: 'bad', title: 'Limits are not shared: the store fails',
          text: 'The store (' + format.words(store.kind) + ') cannot decide: ' + format.words(store.reason || 'unknown reason')
            + (since ? ', since ' + format.moment(since, now) + ' (' + format.span(now - since) + ')' : '')
            + '. The policy on-store-failure of each limit applies.' + (data.figures === 'instance' ? ' The figures are those of this instance alone.' : '')
            + (store.error ? ' ' + beginning(store.error) : '') };
      }
      const failing = (data.instances || []).filter(instance => instance.state === 'on-store-failure');
      if (failing.length) {
        return { style: 'bad', title: format.plural(failing.length, 'instance does', 'instances do') + ' not share the limits',
          text: failing.slice(0, NAMED).map(instance => instance.name
            + (instance.reason ? ' (' + format.words(instance.reason) + ')' : '')).join(', ')
            + (failing.length > NAMED ? ' and ' + format.number(failing.length - NAMED) + ' more' : '') + '. There, the policy on-store-failure of each limit applies.' };
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
          + (store.kind === 'redis' ? 'Redis' : 'the application’s own store') + '.' };
    }
  };

  page.limits = { numbers, badges, showBadges, state, lastMinute, share, verdict };
  page.Overview = Overview;
})(window.RateLimits = window.RateLimits || {});
