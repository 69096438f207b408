/* Builds and updates the page. Text of the server becomes text nodes and attributes, never markup. */
(function (page) {
  'use strict';

  const SVG = 'http://www.w3.org/2000/svg';

  function byId(id) {
    return document.getElementById(id);
  }

  function fill(node, attributes, children) {
    Object.keys(attributes || {}).forEach(name => set(node, name, attributes[name]));
    (children || []).forEach(child =>
      node.appendChild(child && child.nodeType ? child : document.createTextNode(String(child))));
    return node;
  }

  function element(name, attributes, children) {
    return fill(document.createElement(name), attributes, children);
  }

  function svg(name, attributes, children) {
    return fill(document.createElementNS(SVG, name), attributes, children);
  }

  /** Sets an attribute if it has another value; null removes it. */
  function set(node, name, value) {
    if (value === null || value === undefined || value === false) {
      if (node.hasAttribute(name)) {
        node.removeAttribute(name);
      }
    } else if (node.getAttribute(name) !== String(value)) {
      node.setAttribute(name, String(value));
    }
  }

  /** Writes a text if it is another one, so that selections stay. */
  function text(node, value) {
    const next = value === null || value === undefined ? '' : String(value);
    if (node.textContent !== next) {
      node.textContent = next;
    }
  }

  function show(node, visible) {
    if (node.hidden === visible) {
      node.hidden = !visible;
    }
  }

  function mark(node, name, on) {
    if (node.classList.contains(name) !== Boolean(on)) {
      if (on) {
        node.classList.add(name);
      } else {
        node.classList.remove(name);
      }
    }
  }

  /**
   * Makes the children of a node those of the items, in their order. Keeps the nodes of items that were there, and the focus.
   *
   * @param create makes the node of a new item
   * @param update writes the item into its node
   */
  function list(parent, items, key, create, update) {
    const nodes = parent.ratelimitNodes || (parent.ratelimitNodes = new Map());
    const wanted = new Set();
    items.forEach(item => {
      const id = key(item);
      wanted.add(id);
      if (!nodes.has(id)) {
        nodes.set(id, create(item));
      }
      update(nodes.get(id), item);
    });
    Array.from(nodes.keys()).forEach(id => {
      if (!wanted.has(id)) {
        parent.removeChild(nodes.get(id));
        nodes.delete(id);
      }
    });
    let next = parent.firstChild;
    items.forEach(item => {
      const node = nodes.get(key(item));
      if (node === next) {
        next = next.nextSibling;
      } else {
        move(parent, node, next);
      }
    });
  }

  function move(parent, node, before) {
    const focused = node.contains(document.activeElement) ? document.activeElement : null;
    parent.insertBefore(node, before);
    if (focused && document.activeElement !== focused) {
      focused.focus();
    }
  }

  /** Makes the children of a list of terms those of the pairs. */
  function facts(parent, pairs) {
    list(parent, pairs.filter(pair => pair[1] !== null && pair[1] !== undefined), pair => pair[0],
      pair => element('div', {}, [element('dt', {}, [pair[0]]), element('dd')]),
      (node, pair) => text(node.lastChild, pair[1]));
  }

  page.dom = { byId, element, svg, set, text, show, mark, list, facts };
})(window.RateLimits = window.RateLimits || {});
