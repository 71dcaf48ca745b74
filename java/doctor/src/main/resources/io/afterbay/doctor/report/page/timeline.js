'use strict';

// The timeline: latency and what was measured beside it, what runs, and a lane per instance, one above the other, zoomed together.

let theme = {};
let zoom = data.zoom_ms;
let chart = null;

const isNarrow = () => innerWidth < 700;

// Room for the names of the lanes.
const left = () => isNarrow() ? 64 : 150;

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const names = ['ink', 'faint', 'line', 'ground', 'panel', 'flush', 'compaction', 'latency', 'gc', 'cpu', 'queue', 'worst', 'bad'];
  theme = Object.fromEntries(names.map(name => [name, style.getPropertyValue(`--${name}`).trim()]));
}

const duration = ms => ms < 10 ? `${ms.toFixed(1)} ms` : ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(2)} s`;

// Of two hours and more: then ticks are whole minutes, hours and days.
const isLong = data.span_ms >= 2 * 3600e3;

// Seconds from the first event; in long logs, days and hours:minutes:seconds.
function clock(ms) {
  if (!isLong) return `${+(ms / 1000).toFixed(3)} s`;
  const whole = Math.floor(ms / 1000);
  const rest = +(ms / 1000 - whole).toFixed(3);
  const time = [whole / 3600 % 24, whole / 60 % 60, whole % 60].map(part => `${Math.floor(part)}`.padStart(2, '0')).join(':');
  const days = Math.floor(whole / 86400);
  return `${days ? `${days} d ` : ''}${time}${rest ? `${rest}`.slice(1) : ''}`;
}

const laneName = lane => `${data.lanes[lane][1]} ${data.lanes[lane][0]}`;
const plain = text => text.replace(/[<>&]/g, '');

function axis(extra) {
  return { axisLine: { lineStyle: { color: theme.line } }, axisTick: { show: false }, axisLabel: { color: theme.faint, hideOverlap: true },
    nameTextStyle: { color: theme.ink, fontWeight: 650, align: 'left' }, splitLine: { lineStyle: { color: theme.line, opacity: 0.5 } }, ...extra };
}

// One block of work; thin ones stay visible.
function block(params, api) {
  const lane = api.value(0);
  const [from, y] = api.coord([api.value(1), lane]);
  const [to] = api.coord([api.value(1) + api.value(2), lane]);
  const height = Math.max(2, api.size([0, 1])[1] * 0.8);
  const shape = echarts.graphic.clipRectByRect(
    { x: from, y: y - height / 2, width: Math.max(2, to - from), height }, params.coordSys);
  return shape && { type: 'rect', shape, style: { fill: api.visual('color') } };
}

// The count at a time: the last step before it.
function countAt(ms) {
  let [low, high] = [0, data.counts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (data.counts[middle][0] <= ms) low = middle + 1; else high = middle;
  }
  return low ? data.counts[low - 1] : [0, 0, 0];
}

function tip(params) {
  const one = Array.isArray(params) ? params[0] : params;
  if (one.seriesName === 'gc') return `${plain(one.value[3])} at ${clock(one.value[1])}, for <b>${duration(one.value[2])}</b>`;
  if (one.seriesType === 'custom') {
    return `${plain(laneName(one.value[0]))}<br>${one.seriesName} at ${clock(one.value[1])}, for <b>${duration(one.value[2])}</b>`;
  }
  const ms = one.axisValue ?? one.value[0];
  const [, compactions, flushes] = countAt(ms);
  const measured = ['latency', 'cpu', 'queue'].map(id => {
    const point = Array.isArray(params) && params.find(({ seriesName }) => seriesName === id);
    return point ? `<br>${id}: <b>${KINDS[id].words(point.value[1])}</b>` : '';
  });
  return `${clock(ms)}<br>compactions: <b>${compactions}</b><br>flushes: <b>${flushes}</b>${measured.join('')}`;
}

// What is written on the band of a worst moment, above the panel of the compactions, or of latency.
function bandText(id, { instances, latency, is_gc: isGc }) {
  if (isGc) return id === 'counts' ? '' : `${latency}: GC pause`;
  if (id === 'latency') return latency ?? '';
  return instances > 1 ? `${instances} of ${data.instances}${isNarrow() ? '' : ' at once'}` : '';
}

// Of moments that are near to each other on the screen, the worst has its name.
function namedMoments() {
  const room = (zoom[1] - zoom[0]) * (isNarrow() ? 0.35 : 0.14);
  return data.worst.reduce((named, moment) =>
    named.some(({ at_ms: at }) => Math.abs(at - moment.at_ms) < room) ? named : [...named, moment], []);
}

// A band around each of the worst moments, wide enough to be seen; with latencies, the time in which its events may have waited.
function bands(id) {
  const least = (zoom[1] - zoom[0]) / 80;
  const named = id === 'latency' || id === 'counts' ? namedMoments() : [];
  const band = moment => {
    const isNamed = named.includes(moment);
    return [
      { xAxis: moment.at_ms - Math.max(moment.before_ms, least / 2), name: isNamed ? bandText(id, moment) : '', label: { show: isNamed, color: theme.bad, fontWeight: 700, fontSize: 12, position: 'top', distance: 2 } },
      { xAxis: moment.at_ms + Math.max(moment.lasts_ms, least / 2) }];
  };
  return { silent: true, itemStyle: { color: theme.worst }, data: data.worst.map(band) };
}

// What is above the lanes, if it is known: a name, a height in pixels, and how its numbers are written.
const KINDS = {
  latency: { title: () => data.latency_of === 'worst' ? 'Worst latency of each window' : `Latency, ${data.latency_of} of each window`, height: 130, words: duration },
  gc: { title: () => 'Garbage collector stops the program', height: 14 },
  cpu: { title: () => 'Processors that are busy', height: 60, words: share => `${Math.round(100 * share)} %` },
  queue: { title: () => 'Events that wait', height: 60, words: events => events >= 1e4 ? `${Math.round(events / 1000)} k` : `${events}` },
  counts: { title: () => 'Compactions and flushes that run', height: 130, words: count => `${count}` },
};

function panels() {
  const laneHeight = Math.max(5, Math.min(16, 900 / data.lanes.length));
  const list = Object.entries(KINDS).filter(([id]) => data[id]).map(([id, kind]) => ({ id, ...kind }));
  list.push({ id: 'lanes', height: Math.max(60, laneHeight * data.lanes.length) });
  let top = 48;
  for (const panel of list) {
    panel.top = top;
    top += panel.height + (panel.id === 'gc' ? 46 : 56);
  }
  list.height = top + 30;
  return list;
}

function yAxis({ id, height, title, words }, gridIndex) {
  if (id === 'lanes') {
    return axis({ type: 'category', gridIndex, inverse: true, name: data.unit === 'instance' ? 'Each database' : `Each ${data.unit}`, nameLocation: 'start', nameGap: 14, data: data.lanes.map((_, lane) => laneName(lane)), splitLine: { show: false },
      axisLabel: { color: theme.faint, fontSize: 11, interval: Math.ceil(14 * data.lanes.length / height) - 1, width: left() - 14, overflow: 'truncate' } });
  }
  const named = { gridIndex, name: title(), nameGap: id === 'gc' ? 14 : 24 };
  if (id === 'gc') return axis({ ...named, type: 'category', data: [''], splitLine: { show: false } });
  return axis({ ...named, type: 'value', min: 0, max: id === 'cpu' ? 1 : null, splitNumber: height < 100 ? 2 : 3, minInterval: id === 'counts' ? 1 : 0,
    axisLabel: { color: theme.faint, formatter: words } });
}

function seriesOf({ id }, index) {
  const place = { xAxisIndex: index, yAxisIndex: index };
  const line = (name, color, rows, extra) => ({ name, type: 'line', ...place, color, showSymbol: false, lineStyle: { width: 1.2 }, data: rows, ...extra });
  if (id === 'latency') return [line('latency', theme.latency, data.latency, { areaStyle: { opacity: 0.2 } })];
  if (id === 'cpu' || id === 'queue') return [line(id, theme[id], data[id], { areaStyle: { opacity: 0.2 } })];
  if (id === 'gc') {
    return [{ name: 'gc', type: 'custom', ...place, renderItem: block, encode: { x: 1, y: 0 }, color: theme.gc, tooltip: { trigger: 'item' },
      data: data.gc.map(([from, lasts, kind]) => [0, from, lasts, kind]) }];
  }
  if (id === 'counts') {
    // Flushes lie on top of compactions: the area behind is the sum.
    return [
      line('flushes', theme.flush, data.counts.map(([ms, compactions, flushes]) => [ms, compactions + flushes]), { step: 'end', areaStyle: { opacity: 0.55 } }),
      line('compactions', theme.compaction, data.counts.map(([ms, compactions]) => [ms, compactions]), { step: 'end', areaStyle: { opacity: 0.9 } }),
    ];
  }
  const lane = (name, color, rows) => ({ name, type: 'custom', ...place, renderItem: block, encode: { x: 1, y: 0 }, color, data: rows, tooltip: { trigger: 'item' } });
  return [
    lane('compaction', theme.compaction, data.compactions),
    lane('flush', theme.flush, data.flushes),
  ];
}

function options() {
  const list = panels();
  byId('timeline').style.height = `${list.height}px`;
  const last = list.length - 1;
  return {
    animation: false,
    backgroundColor: 'transparent',
    useUTC: true,
    textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: theme.ink },
    aria: { enabled: true, label: { description: document.querySelector('h1').textContent } },
    axisPointer: { link: [{ xAxisIndex: 'all' }], label: { show: false } },
    tooltip: { trigger: 'axis', confine: true, formatter: tip, backgroundColor: theme.panel, borderColor: theme.line, textStyle: { color: theme.ink, fontSize: 13 } },
    grid: list.map(({ top, height }) => ({ left: left(), right: 20, top, height })),
    xAxis: list.map((_, gridIndex) => axis({ type: isLong ? 'time' : 'value', gridIndex, min: 0, max: data.span_ms, splitLine: { show: false },
      axisLabel: { show: gridIndex === last, showMinLabel: false, showMaxLabel: false, color: theme.faint, formatter: clock } })),
    yAxis: list.map(yAxis),
    dataZoom: [
      { type: 'slider', xAxisIndex: 'all', filterMode: 'weakFilter', startValue: zoom[0], endValue: zoom[1], bottom: 8, height: 24, brushSelect: false,
        showDataShadow: false, labelFormatter: clock, borderColor: theme.line, fillerColor: theme.worst, textStyle: { color: theme.faint } },
      { type: 'inside', xAxisIndex: 'all', filterMode: 'weakFilter', zoomOnMouseWheel: 'ctrl', moveOnMouseWheel: false },
    ],
    series: list.flatMap((panel, index) => {
      const [first, ...rest] = seriesOf(panel, index);
      return [{ ...first, id: panel.id, markArea: bands(panel.id) }, ...rest];
    }),
  };
}

function draw() {
  readTheme();
  const node = byId('timeline');
  if (!data.lanes) {
    byId('timeline-section').hidden = true;
    return;
  }
  const next = options();
  if (!chart) {
    chart = echarts.init(node);
    chart.on('datazoom', keepZoom);
  }
  chart.resize();
  chart.setOption(next, { notMerge: true });
  document.documentElement.dataset.charts = '1';
}

// Where the buttons lead: the worst moment in the middle, some cycles as at first, everything.
function zoomTo(part) {
  const { at_ms: at, lasts_ms: lasts } = data.worst[0] ?? { at_ms: 0, lasts_ms: data.span_ms };
  const around = Math.max(3 * lasts, (data.zoom_ms[1] - data.zoom_ms[0]) / 40);
  zoom = { all: [0, data.span_ms], cycles: data.zoom_ms, worst: [Math.max(0, at - around), Math.min(data.span_ms, at + 2 * around)] }[part];
  draw();
}

// Bands are as wide as the part that is seen needs.
function keepZoom() {
  const [{ startValue, endValue }] = chart.getOption().dataZoom;
  zoom = [startValue, endValue];
  chart.setOption({ series: panels().map(({ id }) => ({ id, markArea: bands(id) })) });
}

function describe() {
  if (!data.lanes) return;
  const shown = data.lanes.length < data.instances ? ` ${data.lanes.length} of ${data.instances} ${data.units} are drawn.` : '';
  const [from, to] = data.lanes_ms;
  const part = from > 0 || to < data.span_ms ? ` Lanes are drawn from ${clock(from)} to ${clock(to)}, around the worst moment.` : '';
  byId('lanes-note').textContent = `Times are from ${data.from} UTC on. One lane is one ${data.unit}; work in one vertical line is work at the same time.${shown}${part}`;
}

describe();
draw();
document.querySelectorAll('[data-zoom]').forEach(button => button.addEventListener('click', () => zoomTo(button.dataset.zoom)));
addEventListener('resize', draw);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
