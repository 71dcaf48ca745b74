'use strict';

// Draws all charts, and again where the width or the colors change.

const DRAWINGS = {
  throughput: () => finishedRuns.length ? barOptions('throughput', 'events_per_s') : null,
  cpu: () => finishedRuns.some(run => run.cpu_us_per_event !== null) ? barOptions('cpu', 'cpu_us_per_event') : null,
  latency: latencyOptions,
  events: eventsOptions,
  percentiles: percentileOptions,
  memory: () => sampleOptions('memory', 'rss_mb'),
  disk: () => sampleOptions('disk', 'disk_mb'),
};

const TIMELINES = ['latency', 'events'];

function draw(id) {
  const node = byId(id);
  const options = DRAWINGS[id]();
  if (options === null) {
    node.classList.add('empty');
    node.textContent = 'Not measured in this comparison.';
    return;
  }
  if (node.classList.contains('bars')) node.style.height = `${60 + 52 * backends.length}px`;
  if (!charts.has(id)) {
    charts.set(id, echarts.init(node, null, { renderer: 'svg' }));
    node.setAttribute('role', 'img');
    if (TIMELINES.includes(id)) charts.get(id).group = 'time'; // they zoom together
  }
  charts.get(id).resize();
  charts.get(id).setOption(options, { notMerge: true });
}

function drawAll() {
  readTheme();
  Object.keys(DRAWINGS).forEach(draw);
  document.documentElement.dataset.charts = String(charts.size);
}

function describe() {
  const chosen = shown.map(backend => `${backend} pair ${timelineOf(backend).pair}`).join(', ');
  byId('chosen').textContent = chosen && `One run of each backend, the one in the middle by its P99.9: ${chosen}. Drag the handles to zoom.`;
  byId('latency-kind').textContent = comparison.latency_source === 'markers'
    ? "Of Flink's latency markers." : 'From the time an event was due to its result.';
  const widths = new Set(comparison.timelines.map(timeline => timeline.window_ms));
  if (widths.size) document.querySelectorAll('.window').forEach(node => { node.textContent = `${[...widths].join(' or ')} ms`; });
}

let drawnWidth = innerWidth;

// On phones, the height changes with every scroll.
function redrawInNewWidth() {
  if (innerWidth !== drawnWidth) drawAll();
  drawnWidth = innerWidth;
}

function redrawInPrint(printing) {
  document.documentElement.classList.toggle('print', printing);
  drawAll();
}

describe();
drawAll();
echarts.connect('time');
addEventListener('resize', redrawInNewWidth);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
addEventListener('beforeprint', () => redrawInPrint(true));
addEventListener('afterprint', () => redrawInPrint(false));
