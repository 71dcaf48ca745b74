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
  for (const { figure, text, is_cure: isCure } of data.facts) {
    const node = element('div', undefined, isCure ? 'fact cure' : 'fact');
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
  byId('advice-section').hidden = byId('cure-link').hidden = data.advice.length === 0;
}

// Rows of cells, the names first.
function showTable(id, [names, ...rows]) {
  const row = (name, words) => {
    const node = element('tr');
    node.append(...words.map(word => element(name, word)));
    byId(id).append(node);
  };
  row('th', names);
  rows.forEach(words => row('td', words));
}

function showTables() {
  showTable('worst', data.table);
  byId('worst-section').hidden = data.worst.length === 0;
  if (data.jobs) showTable('jobs', data.jobs);
  byId('jobs-section').hidden = !data.jobs;
}

showFacts();
showAdvice();
showTables();
