'use strict';

// Everything of the page but the chart.

const data = JSON.parse(document.getElementById('data').textContent);
const byId = id => document.getElementById(id);

function element(name, text, className) {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  return node;
}

function showFacts() {
  for (const { figure, text } of data.facts) {
    const node = element('div', undefined, 'fact');
    node.append(element('b', figure), text);
    byId('facts').append(node);
  }
}

function showAdvice() {
  for (const { place, reason, lines } of data.advice) {
    const node = element('div', undefined, 'advice');
    node.append(element('p', `${reason[0].toUpperCase()}${reason.slice(1)}.`), element('p', `In ${place}:`, 'note'), element('pre', lines));
    byId('advice').append(node);
  }
  byId('advice-section').hidden = data.advice.length === 0;
}

function showWorst() {
  const hasLatency = data.worst.some(({ latency }) => latency !== null);
  const row = (name, words) => {
    const node = element('tr');
    node.append(...words.map(word => element(name, word)));
    byId('worst').append(node);
  };
  row('th', ['Time (UTC)', 'Compactions at once', 'Instances', 'Flushes at once', 'Compacting for', ...(hasLatency ? ['Worst latency'] : [])]);
  for (const one of data.worst) {
    row('td', [one.at, one.compactions, one.instances, one.flushes, one.compacting, ...(hasLatency ? [one.latency ?? '–'] : [])]);
  }
  byId('worst-section').hidden = data.worst.length === 0;
}

showFacts();
showAdvice();
showWorst();
