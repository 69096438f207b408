/* Texts for people: numbers, times and durations. */
(function (page) {
  'use strict';

  const ISO_DURATION = /^(-)?P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?$/;

  function group(digits) {
    return digits.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  }

  function number(value) {
    return group(String(Math.round(value)));
  }

  /** A number of calls per second, with as many digits as matter. */
  function perSecond(value) {
    if (value === 0) {
      return '0';
    }
    if (value < 10) {
      return value.toFixed(value < 0.1 ? 2 : 1).replace(/\.?0+$/, '') || '0';
    }
    return number(value);
  }

  const UNITS = { ms: 1, s: 1000, m: 60000, h: 3600000, d: 86400000 };

  /** Reads a rate such as 10/s, 5/10s or 1/PT1M; 0 if it has a calendar unit. */
  function permitsPerSecond(rate) {
    const parts = /^(\d+)(?:\/(?:(\d*)(ms|s|m|h|d)|(P.*)))?$/.exec(rate || '');
    if (!parts) {
      return 0;
    }
    const millis = parts[4] ? milliseconds(parts[4]) : parts[3] ? Number(parts[2] || 1) * UNITS[parts[3]] : 1000;
    return millis > 0 ? Number(parts[1]) * 1000 / millis : 0;
  }

  function percent(part, whole) {
    if (whole === 0 || part === 0) {
      return '';
    }
    const share = 100 * part / whole;
    return share < 1 ? 'less than 1 %' : share > 99 && part < whole ? 'more than 99 %' : Math.round(share) + ' %';
  }

  /** Milliseconds of a duration in ISO 8601, as the endpoint writes them. */
  function milliseconds(iso) {
    const parts = ISO_DURATION.exec(iso || '');
    if (!parts) {
      return 0;
    }
    const fraction = parts[6] ? Number('0.' + parts[6]) : 0;
    const value = ((((Number(parts[2] || 0) * 24) + Number(parts[3] || 0)) * 60 + Number(parts[4] || 0)) * 60
      + Number(parts[5] || 0) + fraction) * 1000;
    return parts[1] ? -value : value;
  }

  /** Two units at most: 1 h 5 min. */
  function span(millis) {
    if (millis > 0 && millis < 1000) {
      return 'less than 1 s';
    }
    const seconds = Math.max(0, Math.round(millis / 1000));
    if (seconds < 60) {
      return seconds + ' s';
    }
    const minutes = Math.floor(seconds / 60);
    if (minutes < 60) {
      return minutes + ' min' + (minutes < 10 && seconds % 60 ? ' ' + seconds % 60 + ' s' : '');
    }
    const hours = Math.floor(minutes / 60);
    if (hours < 48) {
      return hours + ' h' + (minutes % 60 ? ' ' + minutes % 60 + ' min' : '');
    }
    return Math.floor(hours / 24) + ' days';
  }

  /** A duration as application.yml has it: 1h, 90s. */
  function setting(iso) {
    const millis = milliseconds(iso);
    if (millis % 1000) {
      return millis + 'ms';
    }
    const seconds = millis / 1000;
    if (seconds && seconds % 86400 === 0) {
      return seconds / 86400 + 'd';
    }
    if (seconds && seconds % 3600 === 0) {
      return seconds / 3600 + 'h';
    }
    return seconds && seconds % 60 === 0 ? seconds / 60 + 'm' : seconds + 's';
  }

  function settings(list) {
    return list.length ? list.map(setting).join(', ') : '0s';
  }

  function two(value) {
    return value < 10 ? '0' + value : String(value);
  }

  /** The time of day in this browser's zone. */
  function clock(time, seconds) {
    const date = new Date(time);
    return two(date.getHours()) + ':' + two(date.getMinutes()) + (seconds ? ':' + two(date.getSeconds()) : '');
  }

  /** The time of day, with the date if that is another one than now's. */
  function moment(time, now) {
    const date = new Date(time);
    const today = new Date(now);
    const day = date.toDateString() === today.toDateString() ? ''
      : date.getFullYear() + '-' + two(date.getMonth() + 1) + '-' + two(date.getDate()) + ' ';
    return day + clock(time, true);
  }

  function ago(time, now) {
    const passed = now - time;
    return passed < 1500 ? 'now' : span(passed) + ' ago';
  }

  /** TOKEN_BUCKET becomes token bucket. */
  function words(constant) {
    return String(constant).toLowerCase().replace(/[_-]/g, ' ');
  }

  function plural(count, one, many) {
    return number(count) + ' ' + (count === 1 ? one : many);
  }

  page.format = {
    number, perSecond, permitsPerSecond, percent, milliseconds, span, setting, settings, clock, moment, ago, words, plural
  };
})(window.RateLimits = window.RateLimits || {});
