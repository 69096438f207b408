/* Keeps the figures of the last 15 minutes. The page asks for all of them once, and then for the newest. */
(function (page) {
  'use strict';

  const SERIES = ['allowed', 'rejected', 'dryRunRejected', 'refused'];

  const LENGTH = 15 * 60 * 1000;

  /** Rejections that are further apart belong to different incidents. */
  const GAP = 60 * 1000;

  /** Intervals with a smaller part of the most rejections of the last minute are from before the incident. */
  const USUAL = 0.1;

  /** How many more rejections a key may have, because it is counted before the limit. */
  const LATE = 20;

  const NOTHING = { step: 5000, points: new Map(), newest: 0 };

  function History() {
    const limits = new Map();

    /** Adds what the endpoint has answered for a limit. */
    function add(name, answer) {
      const step = page.format.milliseconds(answer.step);
      const first = Math.floor(Date.parse(answer.from) / step) * step;
      let known = limits.get(name);
      if (!known || known.step !== step) {
        known = { step, points: new Map(), newest: first };
        limits.set(name, known);
      }
      const length = Math.max.apply(null, SERIES.map(series => (answer[series] || []).length));
      for (let index = 0; index < length; index++) {
        const values = SERIES.map(series => (answer[series] && answer[series][index]) || 0);
        known.points.set(first + index * step, values);
        known.newest = Math.max(known.newest, first + index * step);
      }
      Array.from(known.points.keys())
        .filter(time => time <= known.newest - LENGTH)
        .forEach(time => known.points.delete(time));
    }

    function keep(names) {
      Array.from(limits.keys()).filter(name => names.indexOf(name) < 0).forEach(name => limits.delete(name));
    }

    /**
     * Returns calls per second, oldest first, for each complete interval up to a time.
     *
     * @param now the end, so that a limit without calls moves on, too
     */
    function rates(name, now) {
      const known = limits.get(name) || NOTHING;
      const end = Math.max(Math.floor(now / known.step) * known.step, known.newest);
      const times = [];
      for (let time = end - LENGTH + known.step; time < end; time += known.step) {
        times.push(time);
      }
      const series = {};
      SERIES.forEach((each, index) => {
        series[each] = times.map(time => {
          const values = known.points.get(time);
          return values ? values[index] * 1000 / known.step : 0;
        });
      });
      return { step: known.step, times, series, most: most(times, series) };
    }

    function most(times, series) {
      return times.reduce((highest, time, index) =>
        Math.max(highest, SERIES.reduce((sum, each) => sum + series[each][index], 0)), 0);
    }

    /**
     * Returns since when a limit rejects as it does now without a longer pause, or null if the last rejection is older than a
     * minute.
     */
    function since(name, now) {
      const known = limits.get(name);
      if (!known) {
        return null;
      }
      const times = Array.from(known.points.keys()).sort((a, b) => b - a);
      const rejected = time => known.points.get(time)[1];
      const highest = times.filter(time => now - time <= GAP + known.step)
        .reduce((most, time) => Math.max(most, rejected(time)), 0);
      let start = null;
      times.some(time => {
        if (rejected(time) > USUAL * highest) {
          start = time;
        }
        return (start === null ? now : start) - time > GAP + known.step;
      });
      if (start === null) {
        return null;
      }
      return { time: start, longer: start <= known.newest - LENGTH + GAP };
    }

    /**
     * Compares the calls per second of the minute before a limit began to reject with those since, at most a minute.
     *
     * @return how many were allowed before, and how many are allowed now, of how many, when it began to reject, and when the
     *     first calls came; null if that is not known
     */
    function change(name, now) {
      const known = limits.get(name);
      const began = since(name, now);
      if (!began || began.longer) {
        return null;
      }
      const total = values => values.reduce((sum, value) => sum + value, 0);
      const between = (from, to) => Array.from(known.points.keys()).sort((a, b) => a - b)
        .filter(time => time >= from && time < to).map(time => known.points.get(time));
      const perSecond = (points, of) => points.length ? total(points.map(of)) * 1000 / known.step / points.length : 0;
      const before = between(began.time - GAP, began.time);
      const first = before.findIndex(values => total(values) > 0);
      // The interval in which it began has calls of before, and the newest one is under way.
      const after = between(Math.max(began.time + known.step, known.newest - GAP), known.newest);
      const called = Array.from(known.points.keys()).filter(time => total(known.points.get(time)) > 0);
      return first < 0 || !after.length ? null : {
        began: began.time,
        first: Math.min.apply(null, called),
        before: perSecond(before.slice(first), values => values[0]),
        allowed: perSecond(after, values => values[0]),
        calls: perSecond(after, total)
      };
    }

    /**
     * Returns the keys that a limit has rejected most, or null: they are those of five minutes, and have more rejections than the
     * limit since it rejects. Those of an earlier incident do not say who is rejected now.
     */
    function keys(name, all, now) {
      const known = limits.get(name);
      const began = since(name, now);
      const rejected = !began ? 0 : Array.from(known.points.keys()).filter(time => time >= began.time)
        .reduce((sum, time) => sum + known.points.get(time)[1], 0);
      return all.some(each => each.rejected - each.error > 2 * rejected + LATE) ? null : all;
    }

    /** Returns calls per minute, newest first. */
    function minutes(name) {
      const known = limits.get(name);
      const sums = new Map();
      if (known) {
        known.points.forEach((values, time) => {
          const minute = Math.floor(time / 60000) * 60000;
          const sum = sums.get(minute) || [0, 0, 0, 0];
          sums.set(minute, sum.map((value, index) => value + values[index]));
        });
      }
      return Array.from(sums.keys()).sort((a, b) => b - a).map(minute => ({ minute, values: sums.get(minute) }));
    }

    return { add, keep, rates, since, change, keys, minutes };
  }

  page.History = History;
})(window.RateLimits = window.RateLimits || {});
