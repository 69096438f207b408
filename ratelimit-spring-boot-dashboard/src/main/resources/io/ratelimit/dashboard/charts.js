/* Draws charts and the bucket as SVG. Series differ by color and by pattern. */
(function (page) {
  'use strict';

  const dom = page.dom;

  /** From the bottom to the top. */
  const STACK = [
    { name: 'allowed', label: 'Allowed', style: 'allowed', fill: null },
    { name: 'dryRunRejected', label: 'Dry run', style: 'dry-run', fill: 'url(#hatch-dry-run)' },
    { name: 'refused', label: 'Refused', style: 'refused', fill: 'url(#hatch-refused)' },
    { name: 'rejected', label: 'Rejected', style: 'rejected', fill: 'url(#hatch-rejected)' }
  ];

  function round(value) {
    return Math.round(value * 10) / 10;
  }

  function points(xs, ys) {
    return xs.map((x, index) => round(x) + ',' + round(ys[index]));
  }

  /** Sets the paths of the stacked series. */
  function stack(group, rates, box, highest) {
    const count = rates.times.length;
    const xs = rates.times.map((time, index) => box.x + (count < 2 ? 0 : index * box.width / (count - 1)));
    let base = rates.times.map(() => 0);
    STACK.forEach((each, index) => {
      const values = rates.series[each.name] || base.map(() => 0);
      const top = values.map((value, at) => value + base[at]);
      const y = value => box.y + box.height - (highest > 0 ? value / highest * box.height : 0);
      const empty = !values.some(value => value > 0);
      const area = group.childNodes[index * 2];
      const line = group.childNodes[index * 2 + 1];
      if (empty) {
        dom.set(area, 'd', null);
        dom.set(line, 'd', null);
      } else {
        const upper = points(xs, top.map(y));
        const lower = points(xs, base.map(y)).reverse();
        dom.set(area, 'd', 'M' + upper.concat(lower).join('L') + 'Z');
        dom.set(line, 'd', edges(points(xs, top.map(y)), values));
      }
      base = top;
    });
  }

  /** The upper edge of a series, only where it has calls. */
  function edges(upper, values) {
    const parts = [];
    upper.forEach((point, index) => {
      const here = values[index] > 0 || values[index - 1] > 0 || values[index + 1] > 0;
      const before = index > 0 && (values[index - 1] > 0 || values[index] > 0 || values[index - 2] > 0);
      if (here) {
        parts.push((before ? 'L' : 'M') + point);
      }
    });
    return parts.join('').replace(/^L/, 'M') || null;
  }

  function layers() {
    const children = [];
    STACK.forEach(each => {
      children.push(dom.svg('path', { class: 'area ' + each.style, fill: each.fill }));
      children.push(dom.svg('path', { class: 'line ' + each.style, fill: 'none' }));
    });
    return dom.svg('g', {}, children);
  }

  function sparkline() {
    return dom.svg('svg', {
      class: 'sparkline', viewBox: '0 0 240 40', preserveAspectRatio: 'none', role: 'img', focusable: 'false'
    }, [layers(), dom.svg('line', { class: 'axis', x1: 0, x2: 240, y1: 39.5, y2: 39.5 })]);
  }

  function updateSparkline(svg, rates, label) {
    stack(svg.firstChild, rates, { x: 0, y: 2, width: 240, height: 37 }, rates.most);
    dom.set(svg, 'aria-label', label);
  }

  /** The next of 1, 2, 5, 10, … */
  function nice(value) {
    const power = Math.pow(10, Math.floor(Math.log(value) / Math.LN10));
    const factor = [1, 2, 5, 10].filter(each => each * power >= value - 1e-9)[0];
    return factor * power;
  }

  function Chart(holder, readout) {
    const grid = dom.svg('g', { class: 'grid' });
    const group = layers();
    const cursor = dom.svg('line', { class: 'cursor' });
    const svg = dom.svg('svg', { class: 'area-chart', role: 'img', focusable: 'false' }, [grid, group, cursor]);
    let latest = null;
    let box = null;
    let pointed = null;
    holder.appendChild(svg);

    function update(rates, label) {
      latest = rates;
      const width = Math.max(280, holder.clientWidth || 800);
      const height = width < 520 ? 190 : 240;
      box = { x: 44, y: 10, width: width - 52, height: height - 34 };
      dom.set(svg, 'viewBox', '0 0 ' + width + ' ' + height);
      dom.set(svg, 'height', height);
      dom.set(svg, 'aria-label', label);
      const step = nice(Math.max(rates.most, 0.2) / 4);
      const highest = step * Math.max(1, Math.ceil(rates.most / step - 1e-9));
      stack(group, rates, box, highest);
      lines(step, highest, width);
      read();
    }

    function lines(step, highest, width) {
      const all = [];
      for (let value = 0; value <= highest + step / 2; value += step) {
        const y = round(box.y + box.height - value / highest * box.height);
        all.push({ key: 'y' + all.length, x: box.x, y, width: box.width, label: page.format.perSecond(value), side: true });
      }
      const times = latest.times;
      if (times.length > 1) {
        const every = (width < 520 ? 5 : 3) * 60000;
        const length = times[times.length - 1] - times[0];
        for (let time = Math.ceil(times[0] / every) * every; time <= times[times.length - 1]; time += every) {
          const x = round(box.x + (time - times[0]) / length * box.width);
          all.push({ key: 'x' + time, x, y: box.y + box.height, label: page.format.clock(time, false), side: false });
        }
      }
      dom.list(grid, all, each => each.key,
        each => dom.svg('g', {}, [
          dom.svg('line', { class: each.side ? 'rule' : 'tick' }),
          dom.svg('text', { 'text-anchor': each.side ? 'end' : 'middle' }, [''])
        ]),
        (node, each) => {
          const line = node.firstChild;
          dom.set(line, 'x1', each.x);
          dom.set(line, 'y1', each.y);
          dom.set(line, 'x2', each.side ? each.x + each.width : each.x);
          dom.set(line, 'y2', each.side ? each.y : each.y + 4);
          dom.set(node.lastChild, 'x', each.side ? each.x - 8 : each.x);
          dom.set(node.lastChild, 'y', each.side ? each.y + 4 : each.y + 18);
          dom.text(node.lastChild, each.label);
        });
    }

    /** Shows the figures below the pointer. */
    function read() {
      if (pointed === null || !latest || !latest.times.length) {
        dom.set(cursor, 'visibility', 'hidden');
        dom.text(readout, '');
        return;
      }
      const last = latest.times.length - 1;
      const index = Math.max(0, Math.min(last, Math.round((pointed - box.x) / box.width * last)));
      const x = round(box.x + index / last * box.width);
      dom.set(cursor, 'visibility', null);
      dom.set(cursor, 'x1', x);
      dom.set(cursor, 'x2', x);
      dom.set(cursor, 'y1', box.y);
      dom.set(cursor, 'y2', box.y + box.height);
      dom.text(readout, page.format.clock(latest.times[index], true) + ': '
        + STACK.filter(each => each.name === 'allowed' || latest.series[each.name][index] > 0)
          .map(each => page.format.perSecond(latest.series[each.name][index]) + '/s ' + each.label.toLowerCase())
          .join(', '));
    }

    svg.addEventListener('pointermove', event => {
      const bounds = svg.getBoundingClientRect();
      const shown = svg.viewBox.baseVal.width || bounds.width;
      pointed = (event.clientX - bounds.left) * shown / bounds.width;
      read();
    });
    svg.addEventListener('pointerleave', () => {
      pointed = null;
      read();
    });

    return { update };
  }

  /** A bucket with the level of its permits, and a lock while its key is blocked. */
  function Bucket(holder) {
    const top = 14;
    const bottom = 126;
    const level = dom.svg('rect', { class: 'level', x: 0, y: top, width: 130, height: bottom - top });
    const amount = dom.svg('text', { class: 'amount', x: 65, y: 78, 'text-anchor': 'middle' }, ['']);
    const of = dom.svg('text', { class: 'of', x: 65, y: 96, 'text-anchor': 'middle' }, ['']);
    const lock = dom.svg('g', { class: 'lock', transform: 'translate(49 22)' }, [
      dom.svg('path', { class: 'shackle', d: 'M8 14V9a8 8 0 0 1 16 0v5', fill: 'none' }),
      dom.svg('rect', { x: 4, y: 14, width: 24, height: 18, rx: 3 })
    ]);
    const svg = dom.svg('svg', { class: 'bucket-picture', viewBox: '0 0 130 140', role: 'img', focusable: 'false' }, [
      dom.svg('clipPath', { id: 'bucket-shape' }, [dom.svg('path', { d: 'M14 14H116L102 126H28Z' })]),
      dom.svg('path', { class: 'inside', d: 'M14 14H116L102 126H28Z' }),
      dom.svg('g', { 'clip-path': 'url(#bucket-shape)' }, [level]),
      dom.svg('path', { class: 'wall', d: 'M10 14H120M14 14L28 126H102L116 14', fill: 'none' }),
      amount, of, lock
    ]);
    holder.appendChild(svg);

    function update(bucket, label) {
      const share = bucket.capacity > 0 ? Math.max(0, Math.min(1, bucket.remaining / bucket.capacity)) : 0;
      const y = round(bottom - share * (bottom - top));
      dom.set(level, 'y', y);
      dom.set(level, 'height', round(bottom - y));
      dom.text(amount, page.format.number(bucket.remaining));
      dom.text(of, 'of ' + page.format.number(bucket.capacity));
      dom.set(lock, 'visibility', bucket.blockedFor ? null : 'hidden');
      dom.set(svg, 'class', 'bucket-picture' + (bucket.blockedFor ? ' blocked' : bucket.remaining <= 0 ? ' drained' : ''));
      dom.set(svg, 'aria-label', label);
    }

    return { update };
  }

  page.charts = { STACK, sparkline, updateSparkline, Chart, Bucket };
})(window.RateLimits = window.RateLimits || {});
