/* Asks before each change. */
(function (page) {
  'use strict';

  const dom = page.dom;

  /**
   * Shows what a change does and sends it if it is confirmed.
   *
   * @param change title, text, list of single effects, the button's label, and the function that sends it
   */
  function confirm(change) {
    const dialog = dom.byId('confirm');
    const send = dom.byId('confirm-send');
    const cancel = dom.byId('confirm-cancel');
    dom.text(dom.byId('confirm-title'), change.title);
    dom.text(dom.byId('confirm-text'), change.text || '');
    dom.list(dom.byId('confirm-list'), change.effects || [], effect => effect,
      effect => dom.element('li', {}, [effect]), () => {});
    dom.text(send, change.button);
    send.onclick = () => {
      dialog.close();
      change.send();
    };
    cancel.onclick = () => dialog.close();
    dialog.showModal();
    cancel.focus();
  }

  /** The attributes that an override can have. */
  const ATTRIBUTES = ['capacity', 'rate', 'enabled', 'dryRun', 'blockFor', 'maxWait', 'onStoreFailure'];

  /** What a plan has of its own, of these. */
  const OF_PLANS = ATTRIBUTES.filter(name => name !== 'onStoreFailure');

  const LABELS = {
    capacity: 'capacity', rate: 'rate', enabled: 'limit calls', dryRun: 'dry run', blockFor: 'block for',
    maxWait: 'wait at most', onStoreFailure: 'while the store fails'
  };

  /** The text of an attribute's value, in the syntax in which it is sent. */
  function value(attributes, name) {
    const present = attributes[name];
    if (present === null || present === undefined) {
      return '';
    }
    return name === 'blockFor' ? page.format.settings(present)
      : name === 'maxWait' ? page.format.setting(present) : String(present);
  }

  function readable(name, text) {
    return name === 'enabled' || name === 'dryRun' ? (text === 'true' ? 'yes' : 'no')
      : name === 'onStoreFailure' ? text.toLowerCase() : text;
  }

  /** Reads the form: the attributes to send. A number or a boolean that is none is sent as it is, for the endpoint to refuse. */
  function attributes(form) {
    const set = {};
    ATTRIBUTES.concat('duration').forEach(name => {
      const text = form.elements[name].value.trim();
      if (text) {
        set[name] = name === 'capacity' && /^\d+$/.test(text) ? Number(text)
          : name === 'enabled' || name === 'dryRun' ? text === 'true' : text;
      }
    });
    return set;
  }

  /** Writes the override of a limit or of a plan into the form. */
  function load(form, of) {
    const override = of.override || {};
    ATTRIBUTES.forEach(name => {
      form.elements[name].value = value(override, name);
    });
    form.elements.duration.value = of.override && !of.override.until ? '' : form.elements.duration.defaultValue;
  }

  /** What an override sets, in one line. */
  function summary(override) {
    return ATTRIBUTES.filter(each => value(override, each) !== '')
      .map(each => LABELS[each] + ' ' + readable(each, value(override, each))).join(', ');
  }

  /** What a change of a limit or of a plan does, attribute by attribute. */
  function effects(of, set) {
    const lines = [];
    ATTRIBUTES.forEach(name => {
      const now = value(of, name);
      const overridden = of.override && value(of.override, name) !== '';
      if (set[name] !== undefined) {
        lines.push(LABELS[name] + ': ' + readable(name, now) + ' → ' + readable(name, String(set[name])));
      } else if (overridden) {
        lines.push(LABELS[name] + ': ' + readable(name, now) + ' → as configured');
      }
    });
    lines.push(set.duration ? 'ends by itself after ' + set.duration : 'stays until you remove it');
    return lines;
  }

  page.changes = { confirm, attributes, load, summary, effects, value, ATTRIBUTES, OF_PLANS };
})(window.RateLimits = window.RateLimits || {});
