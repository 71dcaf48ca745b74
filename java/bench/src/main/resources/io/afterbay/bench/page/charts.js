'use strict';

// How charts look, and those that are not timelines.

const SMALLEST_MS = 0.01; // a logarithm needs more than 0
const LINES = ['solid', 'dashed', 'dotted', [8, 3, 2, 3], [2, 6]];
const charts = new Map();
let theme = {};

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const value = name => style.getPropertyValue(name).trim();
  theme = {
    ink: value('--ink'), faint: value('--faint'), line: value('--line'), ground: value('--ground'), panel: value('--panel'),
    checkpoint: value('--checkpoint'), stall: value('--stall'), bad: value('--bad'),
    colors: [0, 1, 2, 3, 4].map(index => value(`--color-${index}`)),
  };
}

const isNarrow = id => byId(id).clientWidth < 560;
const chartColor = backend => theme.colors[Math.min(backends.indexOf(backend), 4)];
const lineType = backend => LINES[Math.min(backends.indexOf(backend), 4)];
const timelineOf = backend => comparison.timelines.find(timeline => timeline.backend === backend);
const shown = backends.filter(timelineOf);
// Not Math.max(...values): timelines are longer than argument lists may be.
const largest = values => values.reduce((a, b) => Math.max(a, b), -Infinity);
const smallest = values => values.reduce((a, b) => Math.min(a, b), Infinity);
const seconds = ms => `${+(ms / 1000).toFixed(2)} s`;

function axis(extra) {
  return {
    axisLine: { show: true, lineStyle: { color: theme.line } },
    axisTick: { show: false },
    axisLabel: { color: theme.faint, hideOverlap: true },
    nameTextStyle: { color: theme.faint },
    splitLine: { lineStyle: { color: theme.line, opacity: 0.6 } },
    ...extra,
  };
}

function base(description) {
  return {
    animation: false,
    backgroundColor: 'transparent',
    textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: theme.ink },
    aria: { enabled: true, label: { description } },
    tooltip: { confine: true, backgroundColor: theme.panel, borderColor: theme.line, textStyle: { color: theme.ink, fontSize: 13 } },
  };
}

function legend() {
  return { top: 0, itemWidth: 34, itemStyle: { opacity: 0 }, textStyle: { color: theme.ink } };
}

// Bars with whiskers

function whisker(params, api) {
  const [low, high] = [1, 2].map(dimension => api.coord([api.value(dimension), api.value(0)]));
  const half = 7;
  const stroke = { stroke: theme.ink, lineWidth: 1.6, fill: null };
  const line = (x1, y1, x2, y2) => ({ type: 'line', shape: { x1, y1, x2, y2 }, style: stroke });
  return { type: 'group', children: [
    line(low[0], low[1], high[0], high[1]),
    line(low[0], low[1] - half, low[0], low[1] + half),
    line(high[0], high[1] - half, high[0], high[1] + half),
  ] };
}

function barOptions(id, figure) {
  const spreads = backends.map(backend => spread(backend, figure));
  const bars = spreads.map((one, index) => ({
    value: one ? one.median : 0,
    itemStyle: { color: chartColor(backends[index]), borderRadius: [0, 3, 3, 0] },
  }));
  const label = ({ dataIndex }) => spreads[dataIndex] ? number(spreads[dataIndex].median) : 'no finished run';
  const range = one => one.min === one.max ? number(one.min) : `${number(one.min)} to ${number(one.max)}`;
  const words = backends.map((backend, index) => `${backend} ${spreads[index] ? `${number(spreads[index].median)}, ${range(spreads[index])}` : 'none'}`);
  return {
    ...base(`Medians and ranges: ${words.join('; ')}`),
    tooltip: { ...base('').tooltip, trigger: 'axis', axisPointer: { type: 'shadow' }, formatter: ([{ dataIndex }]) =>
      element('div', {}, words[dataIndex]) },
    grid: { left: 16, right: 16, top: 8, bottom: 8, containLabel: true },
    xAxis: axis({ type: 'value', min: 0, max: ({ max }) => (isNarrow(id) ? 1.6 : 1.3) * Math.max(max, ...spreads.map(one => one ? one.max : 0)), splitNumber: 3,
      axisLabel: { color: theme.faint, formatter: value => value.toLocaleString('en-US', { notation: 'compact' }), showMaxLabel: false } }),
    yAxis: axis({ type: 'category', inverse: true, data: backends, axisLabel: { color: theme.ink, fontSize: 13 } }),
    series: [
      { type: 'bar', data: bars, barMaxWidth: 30, label: { show: false } },
      { type: 'custom', renderItem: whisker, encode: { x: [1, 2], y: 0 }, silent: true, z: 5,
        data: spreads.flatMap((one, index) => one && one.min < one.max ? [[index, one.min, one.max]] : []) },
      { type: 'scatter', silent: true, symbolSize: 0.01, z: 6,
        data: spreads.map((one, index) => [one ? one.max : 0, index]),
        label: { show: true, position: 'right', distance: 8, color: theme.ink, fontSize: 14, fontWeight: 600, formatter: label } },
    ],
  };
}

// Percentiles: 90 % is at 1, 99 % at 2, 99.9 % at 3

const nines = percent => -Math.log10(1 - percent / 100);
const percentOf = position => +(100 - 100 / 10 ** position).toPrecision(8);
const SUMMARY = { p50_ms: 50, p90_ms: 90, p95_ms: 95, p99_ms: 99, p999_ms: 99.9 };

function percentilePoints(backend) {
  const timeline = timelineOf(backend);
  const measured = timeline && timeline.percentiles.length
    ? timeline.percentiles.map(({ percent, ms }) => [percent, ms])
    : Object.entries(SUMMARY).map(([figure, percent]) => [percent, spread(backend, figure)]).filter(([, one]) => one).map(([percent, one]) => [percent, one.median]);
  return measured.filter(([percent]) => percent < 100).map(([percent, ms]) => [nines(percent), Math.max(ms, SMALLEST_MS)]);
}

function percentileOptions() {
  const series = backends.map(backend => ({ backend, points: percentilePoints(backend) })).filter(one => one.points.length);
  if (!series.length) return null;
  return {
    ...base('Latency by percentile, one line per backend; the table of all runs has the figures.'),
    tooltip: { ...base('').tooltip, trigger: 'axis', axisPointer: { label: { show: false } }, valueFormatter: duration, order: 'valueDesc',
      formatter: params => pointerText(`${percentOf(params[0].value[0])} % within`, params.map(one => [one.seriesName, duration(one.value[1])])) },
    legend: legend(),
    grid: { left: 12, right: 30, top: isNarrow('percentiles') ? 74 : 40, bottom: 34, containLabel: true },
    xAxis: axis({ type: 'value', min: 0, max: Math.ceil(Math.max(...series.flatMap(one => one.points.map(([x]) => x)))), interval: 1,
      name: 'percentile', nameLocation: 'middle', nameGap: 28,
      axisLabel: { color: theme.faint, formatter: position => position === 0 ? '0 %' : `${percentOf(position)} %` } }),
    yAxis: logAxis(series.flatMap(one => one.points.map(([, ms]) => ms))),
    series: series.map(({ backend, points }, index) => ({
      name: backend, type: 'line', data: points, symbol: 'circle', symbolSize: points.length > 20 ? 0.01 : 6,
      color: chartColor(backend), lineStyle: { width: 2.5, type: lineType(backend) },
      markLine: index > 0 ? undefined : { silent: true, symbol: 'none', lineStyle: { color: theme.line, type: 'solid' },
        label: { show: !isNarrow('percentiles'), formatter: '50 %', position: 'start', color: theme.faint, distance: 6 }, data: [{ xAxis: nines(50) }] },
    })),
  };
}

function logAxis(values, extra) {
  const powers = values.map(ms => Math.log10(Math.max(ms, SMALLEST_MS)));
  const low = Math.floor(smallest(powers));
  return axis({ type: 'log', min: 10 ** low, max: 10 ** Math.max(Math.ceil(largest(powers)), low + 1),
    axisLabel: { color: theme.faint, formatter: duration }, ...extra });
}

const inOrder = params => [...params].sort((a, b) => a.seriesIndex - b.seriesIndex);

function pointerText(title, rows) {
  return element('div', {}, element('b', {}, title), ...rows.map(([name, value]) => element('div', {}, `${name}: ${value}`)));
}

// Memory and disk

function sampleOptions(id, field) {
  const series = shown.filter(backend => timelineOf(backend).samples.length);
  if (!series.length) return null;
  return {
    ...base(`Megabytes over time; peaks: ${series.map(backend => `${backend} ${number(largest(timelineOf(backend).samples.map(one => one[field])))}`).join('; ')}`),
    tooltip: { ...base('').tooltip, trigger: 'axis', formatter: params =>
      pointerText(seconds(params[0].value[0]), params.map(one => [one.seriesName, `${number(one.value[1])} MB`])) },
    legend: legend(),
    grid: { left: 8, right: 24, top: isNarrow(id) ? 74 : 56, bottom: 8, containLabel: true },
    xAxis: axis({ type: 'value', min: 0, max: 'dataMax', splitLine: { show: false }, axisLabel: { color: theme.faint, formatter: seconds, showMaxLabel: false } }),
    yAxis: axis({ type: 'value', min: 0 }),
    series: series.map(backend => ({ name: backend, type: 'line', showSymbol: false, color: chartColor(backend),
      lineStyle: { width: 2, type: lineType(backend) },
      data: timelineOf(backend).samples.map(one => [one.at_ms, one[field]]) })),
  };
}
