/* Shows one limit: its figures, the bucket of a key, and what can be changed. */
(function (page) {
  'use strict';

  const dom = page.dom;
  const format = page.format;
  const changes = page.changes;

  /** The attributes of a limit, in the order in which they are read. */
  const SHOWN = {
    algorithm: format.words, capacity: format.number, rate: String, redis: String, hold: format.setting, zone: String, refill: format.words,
    maxWait: format.setting, blockFor: format.settings, lease: format.number, scope: format.words,
    enabled: value => value ? 'yes' : 'no',
    dryRun: value => value ? 'yes' : 'no', onStoreFailure: format.words
  };

  /**
   * @param client sends requests
   * @param changed called after a change, with what to announce
   */
  function Detail(client, changed) {
    const chart = page.charts.Chart(dom.byId('chart'), dom.byId('chart-readout'));
    const picture = page.charts.Bucket(dom.byId('bucket-picture'));
    const form = dom.byId('change');
    const choice = dom.byId('change-plan');
    let name = null;
    let limit = null;
    let key = null;
    let keyPlan = null;
    let permitted = null;

    /** Shows another limit. */
    function open(next) {
      name = next;
      limit = null;
      close();
      dom.byId('key').value = '';
      dom.byId('key-plan').value = '';
      dom.text(dom.byId('change-failure'), '');
      dom.text(dom.byId('limit-name'), name);
      form.reset();
      client.methods(name).then(answer => {
        if (name === next) {
          const allowed = answer.status >= 200 && answer.status < 300 ? answer.header('Allow') : null;
          permit(allowed ? /\bPOST\b/.test(allowed) : null);
        }
      });
    }

    /** Shows what can be changed: nothing if the endpoint can only be read. If that is unknown, a change is tried. */
    function permit(isPermitted) {
      permitted = isPermitted;
      Array.from(document.querySelectorAll('.change')).forEach(node => dom.show(node, permitted !== false));
      dom.show(dom.byId('read-only'), permitted === false);
      dom.text(dom.byId('read-only'), permitted === false ? 'The endpoint can only be read. To change limits here: '
        + page.client.READ_ONLY : '');
    }

    /**
     * @param data of all limits
     * @param own what the endpoint answers for this limit alone, or null
     */
    function update(data, own, history, now) {
      const known = data.limits[name];
      dom.show(dom.byId('limit-gone'), !known);
      dom.show(dom.byId('limit-content'), Boolean(known));
      if (!known) {
        return;
      }
      const first = limit === null;
      limit = known;
      planChoices();
      if (first) {
        chosen();
      }
      placeholders();
      page.limits.showBadges(dom.byId('limit-badges'), limit);
      dom.text(dom.byId('limit-summary'), page.limits.numbers(limit));
      override(now);
      figures(data, own, history, now);
      byInstance(own);
      topKeys(own);
      places();
      plans(now);
      attributes();
    }

    function figures(data, own, history, now) {
      const calls = page.limits.lastMinute(limit);
      const rates = history.rates(name, now);
      const since = history.since(name, now);
      const current = page.limits.state(limit, since, now, page.store.lost(data, name));
      chart.update(rates, 'Calls per second in the last 15 minutes. ' + current.word + ' ' + current.since
        + '. The table below has the figures.');
      dom.text(dom.byId('chart-title'), 'Calls per second, '
        + (data.figures === 'instance' ? 'this instance' : 'all instances'));
      dom.text(dom.byId('chart-since'), current.word + (current.since ? ' ' + current.since : ''));
      dom.set(dom.byId('chart-since'), 'class', 'since word ' + current.style);
      const change = calls.rejected > 0 ? history.change(name, now) : null;
      dom.show(dom.byId('chart-change'), change !== null);
      dom.text(dom.byId('chart-change'), change === null ? '' : 'The minute before: ' + format.perSecond(change.before)
        + ' calls per second allowed. Now: ' + format.perSecond(change.allowed) + ' of ' + format.perSecond(change.calls) + '. '
        + page.limits.verdict(limit, change, history.keys(name, (own && own.topKeys) || [], now), data.instances));
      dom.list(dom.byId('chart-series'), page.charts.STACK.filter(each => each.name === 'allowed'
          || each.name === 'rejected' || calls[each.name] > 0 || rates.series[each.name].some(value => value > 0)),
        each => each.name,
        each => dom.element('div', { 'data-series': each.name }, [
          dom.element('dt', {}, [dom.element('span', { class: 'key ' + each.style, 'aria-hidden': 'true' }), each.label]),
          dom.element('dd', {}, [dom.element('span'), dom.element('small', {}, [' in the last minute'])])
        ]),
        (node, each) => dom.text(node.lastChild.firstChild, format.number(calls[each.name])
          + (each.name === 'rejected' && page.limits.share(calls) ? ' (' + page.limits.share(calls) + ')' : '')));
      load(calls);
      dom.list(dom.byId('chart-table'), history.minutes(name), row => row.minute,
        row => dom.element('tr', {}, [dom.element('th', { scope: 'row' }, [format.clock(row.minute, false)])]
          .concat([0, 1, 2, 3].map(() => dom.element('td', { class: 'number' })))),
        (node, row) => row.values.forEach((value, series) =>
          dom.text(node.childNodes[series + 1], format.number(value))));
    }

    /** What calls of this instance hold and wait for, which other instances do not tell. */
    function load(calls) {
      const here = limit.thisInstance;
      const concurrency = Boolean(here) && typeof here.permitsInUse === 'number';
      dom.show(dom.byId('load'), Boolean(here));
      dom.facts(dom.byId('load'), here ? [
        ['Permits in use, this instance', concurrency ? page.limits.inUse(limit) : null],
        ['Calls that wait, this instance', format.number(here.waitingCalls)]
      ] : []);
      const permits = page.limits.isShared(limit) ? 'all permits' : 'all permits of a key';
      const text = !concurrency ? '' : page.limits.waiting(limit) > 0
        ? 'Calls wait because ' + permits + ' are in use. They wait at most ' + format.setting(limit.maxWait) + '.'
        : page.limits.isSaturated(limit) ? 'All permits are in use.'
          : calls.rejected > 0 ? 'Calls were rejected because ' + permits + ' were in use.' : '';
      dom.show(dom.byId('load-hint'), text !== '');
      dom.text(dom.byId('load-hint'), text === '' ? '' : text + ' The bucket of a key shows what calls of all instances hold.');
    }

    function override(now) {
      const present = limit.override;
      dom.show(dom.byId('override'), Boolean(present));
      if (!present) {
        return;
      }
      dom.text(dom.byId('override-title'), 'Override' + (present.principal ? ' by ' + present.principal : ', author unknown'));
      dom.text(dom.byId('override-text'), changes.summary(present) + '. ' + ending(present, now));
      dom.show(dom.byId('override-problem'), Boolean(present.problem));
      dom.text(dom.byId('override-problem'), problem(present));
      dom.mark(dom.byId('override'), 'bad', present.problem);
    }

    function ending(present, now) {
      const until = present.until ? Date.parse(present.until) : null;
      return until ? 'Ends at ' + format.moment(until, now) + ', in ' + format.span(until - now) + '.' : 'Stays until you remove it.';
    }

    function problem(present) {
      return present.problem ? 'This instance does not apply it: ' + present.problem : '';
    }

    function byInstance(own) {
      const counts = (own && own.byInstance) || {};
      const names = Object.keys(counts).sort((one, other) => counts[other].rejected - counts[one].rejected
        || counts[other].allowed - counts[one].allowed || (one < other ? -1 : 1));
      dom.list(dom.byId('by-instance'), names, each => each,
        each => dom.element('tr', {}, [dom.element('th', { scope: 'row', class: 'long' }, [each])]
          .concat([0, 1, 2].map(() => dom.element('td', { class: 'number' })))),
        (node, each) => ['allowed', 'rejected', 'refused'].forEach((series, index) =>
          dom.text(node.childNodes[index + 1], format.number(counts[each][series] || 0))));
      dom.show(dom.byId('no-by-instance'), names.length === 0);
    }

    function topKeys(own) {
      const keys = own && own.topKeys;
      const listed = (keys || []).reduce((sum, each) => sum + each.rejected, 0);
      dom.show(dom.byId('top-table'), Boolean(keys && keys.length));
      dom.list(dom.byId('top'), keys || [], each => each.key,
        each => dom.element('tr', {}, [
          dom.element('th', { scope: 'row', class: 'callers-key long' }, [each.key === '' ? 'all callers' : each.key]),
          dom.element('td', { class: 'number' }, [dom.element('span'), dom.element('small', { class: 'share' })]),
          dom.element('td', { class: 'number' }),
          dom.element('td', { class: 'number' }, [lookUpButton(each.key)])
        ]),
        (node, each) => {
          dom.text(node.childNodes[1].firstChild, format.number(each.rejected));
          dom.text(node.childNodes[1].lastChild, each.error ? 'at most ' + format.number(each.error) + ' too many' : '');
          dom.text(node.childNodes[2], format.percent(each.rejected, listed));
        });
      dom.text(dom.byId('no-top'), !keys ? 'Not counted, because keys are often personal data. With ratelimit.top-keys.enabled=true they are.'
        : keys.length ? '' : 'No key has been rejected.');
    }

    function lookUpButton(of) {
      const button = dom.element('button', { type: 'button', class: 'quiet', 'aria-label': 'Show the bucket of ' + (of === '' ? 'all callers' : of) }, ['Bucket']);
      button.addEventListener('click', () => {
        dom.byId('key').value = of;
        lookUp(of);
      });
      return button;
    }

    function places() {
      const all = [];
      if (limit.pointcut) {
        all.push({ what: 'Pointcut', place: limit.pointcut, charge: {} });
      }
      Object.keys(limit.methods || {}).forEach(each => all.push({ what: 'Method', place: each, charge: limit.methods[each] }));
      Object.keys(limit.requests || {}).forEach(each => all.push({ what: 'Requests', place: each, charge: limit.requests[each] }));
      if (!all.length) {
        all.push({ what: 'Programmatic', place: 'RateLimiterRegistry', charge: {} });
      }
      dom.list(dom.byId('places'), all, each => each.what + each.place,
        each => dom.element('li', {}, [dom.element('span', {}, [each.what + ' ']), dom.element('code', {}, [each.place]),
          dom.element('small')]),
        (node, each) => dom.text(node.lastChild, ['key', 'permits', 'permitsAfter', 'condition', 'plan']
          .filter(part => each.charge[part])
          .map(part => part + ' ' + each.charge[part]).join(', ')));
    }

    function plans(now) {
      const all = limit.plans || {};
      dom.show(dom.byId('plans-section'), Object.keys(all).length > 0);
      dom.list(dom.byId('plans'), Object.keys(all), each => each, planRow, (node, each) => {
        const plan = all[each];
        const cells = node.childNodes;
        dom.text(cells[1].firstChild, page.limits.numbers(plan));
        page.limits.showBadges(cells[1].lastChild, plan);
        dom.text(cells[2].childNodes[0], plan.override ? changes.summary(plan.override)
          + (plan.override.principal ? ', by ' + plan.override.principal : '') + '. ' + ending(plan.override, now) : 'No override');
        dom.text(cells[2].lastChild, plan.override ? problem(plan.override) : '');
        dom.show(cells[3], permitted !== false);
        dom.show(cells[3].firstChild.lastChild, Boolean(plan.override));
      });
    }

    function planRow(each) {
      const change = dom.element('button', { type: 'button', class: 'quiet', 'data-change': each,
        'aria-label': 'Change the plan ' + each }, ['Change']);
      const remove = dom.element('button', { type: 'button', class: 'quiet', 'data-remove': each,
        'aria-label': 'Remove the override of the plan ' + each }, ['Remove the override']);
      change.addEventListener('click', () => {
        choice.value = each;
        chosen();
        choice.focus();
      });
      remove.addEventListener('click', () => removeOverride(each, change));
      return dom.element('tr', { role: 'row' }, [
        dom.element('th', { role: 'rowheader', scope: 'row', class: 'long' }, [each]),
        dom.element('td', { role: 'cell' }, [dom.element('span'), ' ', dom.element('span', { class: 'badges' })]),
        dom.element('td', { role: 'cell', class: 'long' }, [dom.element('span'), ' ', dom.element('span', { class: 'fix' })]),
        dom.element('td', { role: 'cell', class: 'change' }, [dom.element('span', { class: 'buttons' }, [change, remove])])
      ]);
    }

    // What a change is for: the limit, or one of its plans

    /** Offers the plans of the limit, where the form and the bucket ask for one. */
    function planChoices() {
      const names = Object.keys(limit.plans || {});
      [choice, dom.byId('key-plan')].forEach(select => {
        dom.list(select, [''].concat(names), each => each,
          each => dom.element('option', { value: each }, [each === '' ? 'the limit' : 'the plan ' + each]), () => {});
        dom.show(select.parentNode, names.length > 0);
      });
    }

    function plan() {
      return limit.plans && limit.plans[choice.value] ? choice.value : null;
    }

    function target() {
      return plan() === null ? limit : limit.plans[plan()];
    }

    /** Shows what the override of the chosen one sets. */
    function chosen() {
      dom.text(dom.byId('change-failure'), '');
      changes.load(form, target());
      placeholders();
    }

    function attributes() {
      dom.list(dom.byId('attributes'), Object.keys(SHOWN).filter(each => limit[each] !== undefined && limit[each] !== null),
        each => each,
        each => dom.element('tr', {}, [dom.element('th', { scope: 'row' }, [each]), dom.element('td'),
          dom.element('td', { class: 'long' })]),
        (node, each) => {
          const origin = limit.origins && limit.origins[each];
          dom.text(node.childNodes[1], SHOWN[each](limit[each]));
          dom.text(node.childNodes[2], origin
            ? format.words(origin.source) + (origin.place ? ': ' + origin.place : '') : '');
        });
    }

    /** Shows what applies now, of what the chosen one can set. */
    function placeholders() {
      const all = plan() === null ? changes.ATTRIBUTES : changes.OF_PLANS;
      changes.ATTRIBUTES.forEach(each => {
        const field = form.elements[each];
        dom.show(field.parentNode, all.indexOf(each) >= 0);
        if (field.tagName === 'INPUT') {
          dom.set(field, 'placeholder', changes.value(target(), each));
        }
      });
    }

    // The bucket of a key

    function close() {
      key = null;
      dom.show(dom.byId('bucket'), false);
      dom.text(dom.byId('lookup-failure'), '');
      dom.text(dom.byId('bucket-failure'), '');
    }

    function lookUp(of) {
      close();
      key = of;
      keyPlan = dom.byId('key-plan').value || null;
      dom.text(dom.byId('bucket-name'), (of === '' ? 'All callers' : of) + (keyPlan === null ? '' : ', plan ' + keyPlan));
      return readBucket();
    }

    /** Reads the bucket again, if one is shown. */
    function readBucket() {
      if (key === null || name === null) {
        return Promise.resolve();
      }
      const asked = { name, key, keyPlan };
      return client.bucket(name, key, keyPlan).then(answer => {
        if (asked.name === name && asked.key === key && asked.keyPlan === keyPlan) {
          showBucket(answer);
        }
      });
    }

    function showBucket(answer) {
      if (answer.status !== 200 || !answer.json) {
        dom.text(dom.byId('lookup-failure'), answer.status === 0 ? 'The instance does not answer.' : page.client.refusal(answer));
        return;
      }
      const bucket = answer.json;
      const reset = format.milliseconds(bucket.resetAfter);
      const blocked = bucket.blockedFor ? format.milliseconds(bucket.blockedFor) : 0;
      dom.text(dom.byId('lookup-failure'), '');
      dom.show(dom.byId('bucket'), true);
      picture.update(bucket, bucket.remaining + ' of ' + bucket.capacity + ' permits'
        + (blocked ? ', blocked for ' + format.span(blocked) : ''));
      dom.facts(dom.byId('bucket-facts'), (limit && limit.algorithm === 'CONCURRENCY' ? [
        ['In use', format.plural(Math.max(0, bucket.capacity - bucket.remaining), 'permit', 'permits')],
        ['Free', format.number(bucket.remaining) + ' of ' + format.number(bucket.capacity)]
      ] : [
        ['Permits', format.number(bucket.remaining) + ' of ' + format.number(bucket.capacity)],
        ['Full again', reset ? 'in ' + format.span(reset) : 'it is full']
      ]).concat([
        ['Blocked', blocked ? 'for ' + format.span(blocked) : 'no'],
        ['Kept by', bucket.scope === 'INSTANCE' ? 'the instance that answers' : 'all instances together']
      ]));
      dom.byId('unblock-send').disabled = !blocked;
    }

    function changeBucket(title, effect, button, announcement, send) {
      const of = key === '' ? 'the bucket of all callers' : 'the key ' + key;
      const asked = { name, key };
      dom.text(dom.byId('bucket-failure'), '');
      changes.confirm({
        title: title + '?',
        text: 'Limit ' + name + ', ' + of + '.',
        effects: [effect],
        button,
        send: () => send().then(answer => {
          if (asked.name !== name || asked.key !== key) {
            return;
          }
          if (answer.status === 200) {
            showBucket(answer);
            changed(announcement);
          } else {
            dom.text(dom.byId('bucket-failure'), refused(answer));
          }
        })
      });
    }

    function refused(answer) {
      if (answer.status === 405) {
        permit(false);
      }
      return page.client.refusal(answer);
    }

    dom.byId('lookup').addEventListener('submit', event => {
      event.preventDefault();
      lookUp(dom.byId('key').value);
    });
    dom.byId('bucket-actions').addEventListener('submit', event => event.preventDefault());
    dom.byId('grant-send').addEventListener('click', () => {
      const text = dom.byId('grant').value.trim();
      changeBucket('Grant permits', text + ' permits come back, at most until the bucket is full.', 'Grant', 'Permits granted.',
        () => client.changeBucket(name, key, keyPlan, { grant: /^\d+$/.test(text) ? Number(text) : text }));
    });
    dom.byId('block-send').addEventListener('click', () => {
      const text = dom.byId('block').value.trim();
      changeBucket('Block this key', 'Every call of this key is rejected for ' + text + '.', 'Block', 'The key is blocked.',
        () => client.changeBucket(name, key, keyPlan, { blockFor: text }));
    });
    dom.byId('unblock-send').addEventListener('click', () =>
      changeBucket('Unblock this key', 'The key is no longer blocked, and earlier violations are forgotten.', 'Unblock',
        'The key is no longer blocked.', () => client.changeBucket(name, key, keyPlan, { unblock: true })));
    dom.byId('reset-send').addEventListener('click', () =>
      changeBucket('Reset the bucket', 'The bucket is full, and the key is not blocked.', 'Reset', 'The bucket is reset.',
        () => client.resetBucket(name, key, keyPlan)));

    // Changes of the limit

    function failed(answer) {
      if (answer.status !== 409) {
        dom.text(dom.byId('change-failure'), refused(answer));
        return Promise.resolve();
      }
      // What the form holds stays: it is sent with the new version if the change is reviewed again.
      return client.limit(name).then(now => {
        if (now.status === 200 && now.json) {
          limit = now.json;
        }
        const present = target().override;
        const author = present && present.principal ? ' by ' + present.principal : '';
        dom.text(dom.byId('change-failure'), 'The override was changed meanwhile' + author
          + ', so nothing was sent. Compare it with your values, and review the change again.');
        changed(null);
      });
    }

    function version(of) {
      return of.override ? of.override.version : 0;
    }

    form.addEventListener('submit', event => {
      event.preventDefault();
      dom.text(dom.byId('change-failure'), '');
      const set = changes.attributes(form);
      if (!Object.keys(set).some(each => each !== 'duration')) {
        dom.text(dom.byId('change-failure'), 'Set at least one attribute.');
        return;
      }
      const of = name;
      const ofThe = plan();
      // What is shown now is what the change refers to, whatever is read while the dialog is open.
      const expected = version(target());
      const sent = Object.assign({ version: expected }, ofThe === null ? {} : { plan: ofThe }, set);
      changes.confirm({
        title: 'Change the limit ' + name + (ofThe === null ? '' : ' for the plan ' + ofThe) + '?',
        text: 'On all instances:',
        effects: changes.effects(target(), set),
        button: 'Change',
        send: () => client.override(of, sent).then(answer => {
          if (answer.status === 200) {
            changed('The limit ' + of + ' is changed' + (ofThe === null ? '.' : ' for the plan ' + ofThe + '.'));
          } else if (of === name) {
            failed(answer);
          }
        })
      });
    });
    choice.addEventListener('change', chosen);
    dom.byId('change-discard').addEventListener('click', () => {
      if (limit) {
        chosen();
      }
    });
    dom.byId('override-remove').addEventListener('click', () => removeOverride(null, dom.byId('limit-name')));

    /**
     * @param ofThe the plan; null: of the limit itself
     * @param next has the focus afterwards, because the button is gone
     */
    function removeOverride(ofThe, next) {
      const of = name;
      const expected = version(ofThe === null ? limit : limit.plans[ofThe]);
      dom.text(dom.byId('change-failure'), '');
      changes.confirm({
        title: 'Remove the override of ' + name + (ofThe === null ? '' : ' for the plan ' + ofThe) + '?',
        text: (ofThe === null ? 'The limit' : 'The plan') + ' applies as configured, on all instances.',
        button: 'Remove',
        send: () => client.removeOverride(of, ofThe, expected).then(answer => {
          if (answer.status === 200) {
            if (of === name) {
              if (plan() === ofThe) {
                changes.load(form, {});
              }
              next.focus();
            }
            changed('The override of ' + of + (ofThe === null ? '' : ' for the plan ' + ofThe) + ' is removed.');
          } else if (of === name) {
            failed(answer);
          }
        })
      });
    }

    return { open, update, readBucket };
  }

  page.Detail = Detail;
})(window.RateLimits = window.RateLimits || {});
