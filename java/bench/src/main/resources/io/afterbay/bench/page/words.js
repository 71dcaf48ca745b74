'use strict';

// What the page says in words and tables. Text from the data only ever becomes text nodes.

const page = JSON.parse(document.getElementById('data').textContent);
for (const figure of page.figures) figure.label = figure.label.replace('us/', 'µs/');
const comparison = page.comparison;
const finishedRuns = comparison.runs.filter(run => run.failure === null);
const backends = page.backends;
const ours = backends[0];

const byId = id => document.getElementById(id);

function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function number(value) {
  if (value === null || value === undefined) return '–';
  const size = Math.abs(value);
  const digits = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function duration(ms) {
  if (ms === null || ms === undefined) return '–';
  const [value, unit] = ms >= 1000 ? [ms / 1000, 's'] : [ms, 'ms'];
  return `${value.toLocaleString('en-US', { maximumSignificantDigits: value >= 100 ? 3 : 2 })} ${unit}`;
}

function spread(backend, figure) {
  const values = finishedRuns
    .filter(run => run.backend === backend && run[figure] !== null)
    .map(run => run[figure])
    .sort((a, b) => a - b);
  if (values.length === 0) return null;
  const middle = values.length >> 1;
  const median = values.length % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return { median, min: values[0], max: values[values.length - 1] };
}

const isMeasured = figure => finishedRuns.some(run => run[figure.name] !== null);

function colorOf(backend) {
  return `var(--color-${Math.min(backends.indexOf(backend), 4)})`;
}

function dot(backend) {
  return element('span', { class: 'dot', style: `background: ${colorOf(backend)}`, 'aria-hidden': 'true' });
}

function showLabels() {
  const pairs = new Set(comparison.runs.map(run => run.pair)).size;
  const labels = [pairs === 1 ? 'one pair' : `${pairs} pairs`];
  if (comparison.rate_per_s !== null) labels.push(`latency at ${number(comparison.rate_per_s)} events/s`);
  if (comparison.latency_source === 'markers') labels.push('latency markers');
  if (comparison.environment.limit) labels.push(comparison.environment.limit);
  if (comparison.outputs_equal) labels.push('outputs equal ✓');
  byId('labels').append(...labels.map(label => element('li', {}, label)));
}

function showWarnings() {
  for (const { bad, text } of page.warnings) {
    const kind = bad ? element('strong', {}, 'Careful: ') : '';
    byId('warnings').append(element('p', { class: bad ? 'warning bad' : 'warning', role: bad ? 'alert' : 'note' }, kind, text));
  }
}

function judgement(figure, ratio) {
  if (comparison.outputs_equal === false) return { kind: 'equal', sign: '?', word: 'in doubt' };
  if (ratio.min <= 1 && ratio.max >= 1) return { kind: 'equal', sign: '≈', word: 'no clear difference' };
  return ratio.min > 1 === figure.more_is_better
    ? { kind: 'better', sign: '✓', word: 'better' }
    : { kind: 'worse', sign: '✗', word: 'worse' };
}

function rangeOf(ratio) {
  return ratio.min === ratio.max ? '' : ` [${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)}]`;
}

function ratioCell(figure, ratio) {
  const { kind, sign, word } = judgement(figure, ratio);
  return element('td', {},
    element('span', { class: kind, title: word }, `${ratio.median.toFixed(2)}x `,
      element('span', { role: 'img', 'aria-label': word }, sign)),
    element('span', { class: 'range' }, rangeOf(ratio)));
}

function timesRow(figure, other) {
  const [mine, theirs] = [spread(ours, figure), spread(other, figure)];
  if (!mine || !theirs) return [];
  const name = page.figures.find(one => one.name === figure).label.replace(', ms', '');
  return [element('tr', {}, element('th', { scope: 'row' }, name),
    element('td', {}, element('b', {}, duration(mine.median)), ` against ${duration(theirs.median)}`))];
}

function card(other) {
  const ratios = comparison.ratios[`${ours}/${other}`] || {};
  const node = element('article', { class: 'card', style: `border-top-color: ${colorOf(other)}` },
    element('h3', {}, `${ours} against ${other}`));
  const first = page.figures[0];
  node.append(ratios[first.name] ? bigRatio(first, ratios[first.name]) : missingRatio(other));
  const rows = page.figures
    .filter(figure => ratios[figure.name] && ['cpu_us_per_event', 'p99_ms', 'p999_ms', 'peak_rss_mb', 'disk_mb'].includes(figure.name))
    .map(figure => element('tr', {}, element('th', { scope: 'row' }, figure.label.replace(/, .*/, '')), ratioCell(figure, ratios[figure.name])));
  rows.push(...timesRow('longest_pause_ms', other), ...timesRow('max_ms', other));
  if (rows.length) node.append(element('table', {}, ...rows));
  return node;
}

function bigRatio(figure, ratio) {
  const { kind, sign, word } = judgement(figure, ratio);
  return element('p', { class: 'big' },
    element('span', { class: kind }, `${ratio.median.toFixed(2)}x `, element('span', { role: 'img', 'aria-label': word }, sign)),
    element('small', {}, ' the events/s', element('span', { class: 'range' }, rangeOf(ratio))));
}

function missingRatio(other) {
  const failed = [ours, other].filter(backend => !finishedRuns.some(run => run.backend === backend));
  const text = failed.length ? `${failed.join(' and ')} did not finish` : 'no pair to compare';
  return element('p', { class: failed.length ? 'big worse' : 'big equal' }, element('small', {}, text));
}

function showVersus() {
  const cards = backends.slice(1).map(card);
  byId('versus').append(...cards.length ? cards : [element('p', { class: 'note' }, 'There was no other backend.')]);
}

function showRuns() {
  const figures = page.figures.filter(isMeasured);
  const head = ['backend', 'pair', ...figures.map(figure => figure.label)];
  const table = byId('runs');
  table.append(element('thead', {}, element('tr', {}, ...head.map(text => element('th', { scope: 'col' }, text)))));
  table.append(element('tbody', {}, ...comparison.runs.map((run, index) => runRow(run, index, figures))));
}

function runRow(run, index, figures) {
  const starts = index > 0 && comparison.runs[index - 1].pair !== run.pair;
  const row = element('tr', starts ? { class: 'pair-start' } : {},
    element('th', { scope: 'row' }, dot(run.backend), run.backend), element('td', {}, String(run.pair)));
  if (run.failure === null) {
    row.append(...figures.map(figure => element('td', {}, number(run[figure.name]))));
  } else {
    row.append(element('td', { class: 'failure', colspan: Math.max(1, figures.length) }, `✗ failed: ${run.failure}`));
  }
  return row;
}

function showCircumstances() {
  byId('target').textContent = comparison.target;
  byId('command').textContent = comparison.command;
  for (const [name, value] of Object.entries(comparison.environment)) {
    byId('environment').append(element('dt', {}, name), element('dd', {}, value));
  }
  byId('copy').addEventListener('click', copyCommand);
}

async function copyCommand() {
  await navigator.clipboard.writeText(comparison.command);
  byId('copy').textContent = 'Copied';
}

showLabels();
showWarnings();
showVersus();
showRuns();
showCircumstances();
