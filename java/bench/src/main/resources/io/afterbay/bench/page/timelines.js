'use strict';

// Timelines: one panel per backend, all with the same axes.

// Gaps that are long, and unusual: a source may hand over its events in blocks.
function stallsOf({ events, window_ms: width }) {
  const busy = events.flatMap((count, window) => count > 0 ? [window] : []);
  const steps = busy.slice(1).map((window, index) => window - busy[index]);
  const usual = [...steps].sort((a, b) => a - b)[steps.length >> 1];
  return steps.flatMap((step, index) => (step - 1) * width >= 250 && step >= 5 * usual
    ? [{ from: (busy[index] + 1) * width, to: busy[index + 1] * width }] : []);
}

function bands(timeline, stalls) {
  const longest = Math.max(0, ...stalls.map(({ from, to }) => to - from));
  return [
    ...timeline.checkpoints.map(({ start_ms: start, duration_ms: length }) =>
      [{ xAxis: start, itemStyle: { color: theme.checkpoint } }, { xAxis: start + Math.max(length, timeline.window_ms) }]),
    ...stalls.map(({ from, to }) => [{ xAxis: from, itemStyle: { color: theme.stall },
      label: { show: to - from === longest, formatter: seconds(to - from), color: theme.bad, fontWeight: 700, position: 'insideTop' } }, { xAxis: to }]),
  ];
}

// Results that come in bursts, as of windows, are points; a line would not connect them.
const isSparse = values => values.filter(value => value === null).length * 3 > values.length;

function panelOptions(id, valuesOf, yAxisOf, style, describe) {
  const panels = shown.filter(backend => valuesOf(timelineOf(backend)).some(value => value > 0));
  if (!panels.length) return null;
  const [top, height, gap] = [28, isNarrow(id) ? 84 : 104, 38];
  const length = Math.max(...panels.map(backend => timelineOf(backend).events.length * timelineOf(backend).window_ms));
  const all = panels.flatMap(backend => valuesOf(timelineOf(backend)).filter(value => value !== null));
  byId(id).style.height = `${top + panels.length * (height + gap) + 36}px`;
  const last = panels.length - 1;
  return {
    ...base(`One panel per backend over ${seconds(length)}: ${panels.map(backend => describe(backend)).join('; ')}`),
    axisPointer: { link: [{ xAxisIndex: 'all' }], label: { show: false } },
    tooltip: { ...base('').tooltip, trigger: 'axis', formatter: params =>
      pointerText(seconds(params[0].value[0]), inOrder(params).map(one => [one.seriesName, style.format(one.value[1])])) },
    title: panels.map((backend, index) => ({ text: describe(backend), left: 4, top: index * (height + gap),
      textStyle: { color: chartColor(backend), fontSize: 13, fontWeight: 650 } })),
    grid: panels.map((_, index) => ({ left: 62, right: 16, top: top + index * (height + gap), height })),
    xAxis: panels.map((_, index) => axis({ type: 'value', gridIndex: index, min: 0, max: length, splitLine: { show: false },
      axisLabel: { show: index === last, color: theme.faint, formatter: seconds } })),
    yAxis: panels.map((_, index) => yAxisOf(all, { gridIndex: index })),
    dataZoom: [{ id: 'time', type: 'slider', xAxisIndex: 'all', bottom: 6, height: 24, brushSelect: false, showDataShadow: false, labelFormatter: seconds,
      backgroundColor: 'transparent', borderColor: theme.line, fillerColor: theme.checkpoint,
      handleStyle: { color: theme.panel, borderColor: theme.faint }, moveHandleStyle: { color: theme.faint }, textStyle: { color: theme.faint } }],
    series: panels.map((backend, index) => {
      const timeline = timelineOf(backend);
      return { name: backend, type: 'line', xAxisIndex: index, yAxisIndex: index, showSymbol: isSparse(valuesOf(timeline)), symbol: 'circle', symbolSize: 4,
        color: chartColor(backend), lineStyle: { width: 1.4 }, areaStyle: style.area ? { opacity: 0.35 } : undefined,
        sampling: style.sampling, data: valuesOf(timeline).map((value, window) => [window * timeline.window_ms, value]),
        markArea: { silent: true, data: bands(timeline, stallsOf(timeline)) } };
    }),
  };
}

function latencyOptions() {
  return panelOptions('latency', timeline => timeline.latency_max_ms.map(ms => ms === null ? null : Math.max(ms, SMALLEST_MS)),
    (all, extra) => logAxis(all, { splitNumber: 3, ...extra }), { format: duration, sampling: 'max' },
    backend => `${backend}: worst ${duration(largest(timelineOf(backend).latency_max_ms))}`);
}

function eventsOptions() {
  const perSecond = timeline => timeline.events.map(count => count * 1000 / timeline.window_ms);
  const compact = value => value.toLocaleString('en-US', { notation: 'compact' });
  const longest = backend => Math.max(0, ...stallsOf(timelineOf(backend)).map(({ from, to }) => to - from));
  return panelOptions('events', perSecond,
    (all, extra) => axis({ type: 'value', min: 0, max: 1.05 * largest(all), splitNumber: 2,
      axisLabel: { color: theme.faint, formatter: compact, showMaxLabel: false }, ...extra }),
    { format: value => `${number(value)} events/s`, area: true },
    backend => `${backend}: ${longest(backend) ? `longest stall ${duration(longest(backend))}` : 'no stall'}`);
}
