'use strict';

// The timeline: latency, what runs, and a lane per instance, one above the other, zoomed together.

const LEFT = 150;
let theme = {};
let chart = null;

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const names = ['ink', 'faint', 'line', 'ground', 'panel', 'flush', 'compaction', 'latency', 'worst', 'bad'];
  theme = Object.fromEntries(names.map(name => [name, style.getPropertyValue(`--${name}`).trim()]));
}

const duration = ms => ms < 10 ? `${ms.toFixed(1)} ms` : ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(2)} s`;
const clock = ms => `${+(ms / 1000).toFixed(3)} s`;
const laneName = lane => `${data.lanes[lane][1]} ${data.lanes[lane][0]}`;

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
  if (one.seriesType === 'custom') {
    return `${laneName(one.value[0])}<br>${one.seriesName} at ${clock(one.value[1])}, for <b>${duration(one.value[2])}</b>`;
  }
  const ms = one.axisValue ?? one.value[0];
  const [, compactions, flushes] = countAt(ms);
  const latency = Array.isArray(params) && params.find(({ seriesName }) => seriesName === 'latency');
  return `${clock(ms)}<br>compactions: <b>${compactions}</b><br>flushes: <b>${flushes}</b>${latency ? `<br>latency: <b>${duration(latency.value[1])}</b>` : ''}`;
}

// A band around each of the worst moments, wide enough to be seen.
function bands(isLabelled) {
  const least = (data.zoom_ms[1] - data.zoom_ms[0]) / 80;
  return { silent: true, itemStyle: { color: theme.worst },
    data: data.worst.map(({ at_ms: at, compacting_ms: lasts, compactions }, index) => [
      { xAxis: at - least / 2, label: { show: isLabelled && index === 0 && compactions > 1, formatter: `worst: ${compactions} at once`, color: theme.bad, fontWeight: 700, position: 'insideTop', distance: -16 } },
      { xAxis: at + Math.max(lasts, least / 2) }]) };
}

function panels() {
  const laneHeight = Math.max(5, Math.min(16, 900 / data.lanes.length));
  const list = [];
  if (data.latency) list.push({ id: 'latency', height: 130 });
  list.push({ id: 'counts', height: 130 }, { id: 'lanes', height: Math.max(60, laneHeight * data.lanes.length) });
  let top = 48;
  for (const panel of list) {
    panel.top = top;
    top += panel.height + 62;
  }
  list.height = top + 30;
  return list;
}

function yAxis({ id, height }, gridIndex) {
  if (id === 'lanes') {
    return axis({ type: 'category', gridIndex, inverse: true, data: data.lanes.map((_, lane) => laneName(lane)), splitLine: { show: false },
      axisLabel: { color: theme.faint, fontSize: 11, interval: Math.ceil(14 * data.lanes.length / height) - 1, width: LEFT - 14, overflow: 'truncate' } });
  }
  const name = id === 'latency' ? 'Worst latency per window' : 'Compactions and flushes that run';
  return axis({ type: 'value', gridIndex, min: 0, splitNumber: 3, minInterval: id === 'counts' ? 1 : 0, name, nameGap: 26,
    axisLabel: { color: theme.faint, formatter: id === 'latency' ? duration : '{value}' } });
}

function seriesOf({ id }, index) {
  const place = { xAxisIndex: index, yAxisIndex: index };
  const line = (name, color, rows, extra) => ({ name, type: 'line', ...place, color, showSymbol: false, lineStyle: { width: 1.2 }, data: rows, ...extra });
  if (id === 'latency') return [line('latency', theme.latency, data.latency, { areaStyle: { opacity: 0.2 }, markArea: bands(false) })];
  if (id === 'counts') {
    // Flushes lie on top of compactions: the area behind is the sum.
    return [
      line('flushes', theme.flush, data.counts.map(([ms, compactions, flushes]) => [ms, compactions + flushes]), { step: 'end', areaStyle: { opacity: 0.55 }, markArea: bands(true) }),
      line('compactions', theme.compaction, data.counts.map(([ms, compactions]) => [ms, compactions]), { step: 'end', areaStyle: { opacity: 0.9 } }),
    ];
  }
  const lane = (name, color, rows) => ({ name, type: 'custom', ...place, renderItem: block, encode: { x: 1, y: 0 }, color, data: rows, tooltip: { trigger: 'item' } });
  return [
    { ...lane('compaction', theme.compaction, data.compactions), markArea: bands(false) },
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
    textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: theme.ink },
    aria: { enabled: true, label: { description: document.querySelector('h1').textContent } },
    axisPointer: { link: [{ xAxisIndex: 'all' }], label: { show: false } },
    tooltip: { trigger: 'axis', confine: true, formatter: tip, backgroundColor: theme.panel, borderColor: theme.line, textStyle: { color: theme.ink, fontSize: 13 } },
    grid: list.map(({ top, height }) => ({ left: LEFT, right: 20, top, height })),
    xAxis: list.map((_, gridIndex) => axis({ type: 'value', gridIndex, min: 0, max: data.span_ms, splitLine: { show: false },
      axisLabel: { show: gridIndex === last, showMinLabel: false, showMaxLabel: false, color: theme.faint, formatter: clock } })),
    yAxis: list.map(yAxis),
    dataZoom: [
      { type: 'slider', xAxisIndex: 'all', filterMode: 'weakFilter', startValue: data.zoom_ms[0], endValue: data.zoom_ms[1], bottom: 8, height: 24, brushSelect: false,
        showDataShadow: false, labelFormatter: clock, borderColor: theme.line, fillerColor: theme.worst, textStyle: { color: theme.faint } },
      { type: 'inside', xAxisIndex: 'all', filterMode: 'weakFilter', zoomOnMouseWheel: 'ctrl', moveOnMouseWheel: false },
    ],
    series: list.flatMap(seriesOf),
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
  if (!chart) chart = echarts.init(node);
  chart.resize();
  chart.setOption(next, { notMerge: true });
  document.documentElement.dataset.charts = '1';
}

function describe() {
  if (!data.lanes) return;
  const shown = data.lanes.length < data.instances ? ` ${data.lanes.length} of ${data.instances} instances are drawn.` : '';
  const [from, to] = data.lanes_ms;
  const part = from > 0 || to < data.span_ms ? ` Lanes are drawn from ${clock(from)} to ${clock(to)}, around the worst moment.` : '';
  byId('lanes-note').textContent = `Times are seconds from ${data.from} UTC. Drag the handles below the chart, or turn the wheel with Ctrl, to zoom.${shown}${part}`;
}

describe();
draw();
addEventListener('resize', draw);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
