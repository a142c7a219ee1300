// SPDX-License-Identifier: BSD-3-Clause
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);

function element(tag, text = "", classes = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = classes;
  return made;
}

function swatch(colour) {
  const made = element("i", "", "swatch");
  made.style.background = colour;
  return made;
}

function duration(ns) {
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
    if (ns >= size) return `${Number((ns / size).toPrecision(3))} ${unit}`;
  }
  return `${ns} ns`;
}

const moment = (ns) => `${(ns / 1e6).toFixed(3)} ms`; // since the begin of the run
const windowed = (name) => (name ? `, window "${name}"` : "");
const called = (row) => (row.call || "a call") + (row.place ? ` in ${row.place}` : "");

// The table

const TITLES = ["Wait state", "Seconds", "Share", "Times", "Late rank", "In"];
const isMinor = (row) => row.share < data.least_share;
const tableRows = data.rows.map((row, number) => {
  const line = element("tr");
  const pattern = element("td", "", "text");
  pattern.append(swatch(data.colours[row.pattern]), row.pattern);
  const where = element("td", called(row) + windowed(row.window), "text where");
  for (const sentence of row.advice) where.append(element("p", sentence));
  const numbers = [row.seconds.toFixed(3), `${(100 * row.share).toFixed(1)} %`,
    row.count.toLocaleString("en"), row.late_ranks].map((text, index) => {
    const cell = element("td", text, "number");
    cell.dataset.title = TITLES[index + 1]; // on a narrow screen
    return cell;
  });
  line.append(pattern, ...numbers, where);
  line.tabIndex = 0;
  line.onclick = () => markRow(number);
  line.onkeydown = (event) => {
    if (event.key === "Enter") markRow(number);
  };
  return line;
});

function fillTable() {
  const head = element("tr");
  TITLES.forEach((title, index) => {
    head.append(element("th", title, index % 5 ? "" : "text")); // the first and the last
  });
  const body = element("tbody");
  body.append(...tableRows);
  const top = element("thead");
  top.append(head);
  at("rows").append(top, body);
  const minor = data.rows.filter(isMinor).length;
  at("minor-count").textContent =
    `also the ${minor} rows that took less than ${100 * data.least_share} % of the run`;
  at("minor").parentElement.hidden = minor === 0;
  at("minor").onchange = showMinor;
  showMinor();
}

function showMinor() {
  data.rows.forEach((row, number) => {
    tableRows[number].hidden = isMinor(row) && !at("minor").checked;
  });
}

// Bars of time by rank, cut by wait state. A process without MPI_COMM_WORLD has a name instead.

const short = (name) => name.replace("process", "PID"); // beside a bar or band
const named = (rank) => (/^\d+$/.test(rank) ? `rank ${rank}` : short(rank));

const MOST_BARS = 32;

function fillBars(id, column) {
  const ranks = new Map();
  for (const row of data.rows) {
    for (const [rank, seconds] of Object.entries(row[column])) {
      if (!ranks.has(rank)) ranks.set(rank, new Map());
      const parts = ranks.get(rank);
      parts.set(row.pattern, (parts.get(row.pattern) || 0) + seconds);
    }
  }
  const total = (parts) => [...parts.values()].reduce((sum, each) => sum + each, 0);
  const all = [...ranks].sort((one, other) => total(other[1]) - total(one[1]));
  const shown = all.slice(0, MOST_BARS);
  const longest = shown.length ? total(shown[0][1]) : 0;
  for (const [rank, parts] of shown) {
    const line = element("div", "", "bar");
    const bar = element("div");
    for (const [pattern, seconds] of parts) {
      const part = element("i");
      part.style.cssText = `width:${(100 * seconds) / longest}%;background:${data.colours[pattern]}`;
      part.title = `${pattern}: ${duration(Math.round(seconds * 1e9))}`;
      bar.append(part);
    }
    line.append(element("span", named(rank)), bar,
      element("span", duration(Math.round(total(parts) * 1e9))));
    at(id).append(line);
  }
  if (all.length > shown.length) {
    at(id).append(element("p", `${all.length - shown.length} ranks with less are left out.`, "muted"));
  }
  if (!all.length) at(id).append(element("p", "None.", "muted"));
}

// The timeline. Waits, epochs, operations and sweeps come as numbers, so many of each
// (html_page.py).

const WAIT = 5;
const EPOCH = 8;
const OPERATION = 9;
const SWEEP = 2;
const TICK = 3; // of what has come from another rank: time, band and operation
const AXIS = 22; // pixels above the first rank
const GUTTER = 64; // left of time zero
const WAITS = 14; // height of waits
const LANE = 6; // of one lane of epochs
const OPERATIONS = 8; // of a rank's operations,
const TICKS = 7; // of what comes from others,
const SWEEPS = 4; // and of what its agent does
const GAP = 8;
const TALLEST = 560;
const NEAR = 3; // pixels by which a click may miss
const SHORTEST = 100; // nanoseconds across the canvas
const INK = "#22303c";
const EPOCH_SHADES = ["#d9e1e7", "#a9bac7", "#6f8799"];
const MOST_ARROWS = 60; // unless one operation is asked for
const ARRIVED = "#7a8691";
const TAKEN = "#2f8f6b";
const SWEPT = "#c9a227";
const OPERATION_COLOURS = { put: "#3b82b8", get: "#27647b", send: "#e58a2e" };
const colourOf = (name) => OPERATION_COLOURS[name] || "#8d6fb5"; // accumulates of all kinds

const canvas = at("timeline");
const context = canvas.getContext("2d");
const whole = { from: 0, until: Math.max(data.span, SHORTEST) };
const view = { ...whole, top: 0 };
let chosen = null; // { band, wait }
let asked = null; // { band, operation }: by the pointer,
let kept = null; // and by a click
let matches = null; // of a search or a row: [{ band, wait }], in the order of time
let matched = null; // the same as a test: (band, row, late) => boolean
let next = 0;

data.timelines.forEach((band, number) => {
  let begun = 0;
  for (let i = 0; i < band.operations.length; i += OPERATION) {
    begun += band.operations[i + 3];
    band.operations[i + 3] = begun;
    const [target, arrived, taken] = band.operations.slice(i + 6, i + OPERATION);
    const there = data.timelines[target];
    if (arrived >= 0) (there.arrived ||= []).push(begun + arrived, number, i);
    if (taken >= 0) (there.taken ||= []).push(begun + taken, number, i);
  }
});

let height = 0; // of all ranks
const bands = data.timelines.map((band) => {
  let lanes = 1;
  for (let i = 2; i < band.epochs.length; i += EPOCH) lanes = Math.max(lanes, band.epochs[i] + 1);
  const operations = WAITS + 2 + lanes * LANE + 1; // from the band's top
  const ticks = operations + (band.operations.length ? OPERATIONS + 1 : 0);
  const sweeps = ticks + (band.arrived || band.taken ? TICKS + 1 : 0);
  const bottom = sweeps + (band.sweeps.length ? SWEEPS + 1 : 0);
  const made = { ...band, top: height, height: bottom - 1 + GAP, at: { operations, ticks, sweeps } };
  height += made.height;
  return made;
});
const bandOf = new Map(bands.map((band) => [band.rank, band]));

let width = 0; // of the canvas, as it was last drawn
const shownHeight = () => Math.min(height + AXIS, TALLEST);
const xOf = (time) => GUTTER + ((time - view.from) / (view.until - view.from)) * (width - GUTTER);
const timeAt = (x) => view.from + ((x - GUTTER) / (width - GUTTER)) * (view.until - view.from);
const yOf = (band) => AXIS + band.top - view.top;

function drawAxis() {
  context.fillStyle = "#5f6c78";
  context.textAlign = "left";
  const about = ((view.until - view.from) * 110) / (width - GUTTER);
  const power = 10 ** Math.floor(Math.log10(about));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= about);
  const [unit, size] = view.until >= 1e9 ? ["s", 1e9] : view.until >= 1e6 ? ["ms", 1e6] : ["µs", 1e3];
  const digits = Math.max(0, -Math.floor(Math.log10(step / size)));
  for (let time = Math.ceil(view.from / step) * step; time <= view.until; time += step) {
    const x = Math.round(xOf(time));
    context.fillRect(x, AXIS - 5, 1, 5);
    if (x > width - 80) continue;
    context.fillText(`${(time / size).toFixed(digits)} ${unit}`, x + 3, 12);
  }
}

// Waits shorter than a pixel: the wait state that took most of the pixel's time has its colour.
function drawWaits(band, y, marks) {
  const times = new Map();
  let column = -1;
  const drawColumn = () => {
    if (!times.size) return;
    context.fillStyle = [...times].reduce((one, other) => (other[1] > one[1] ? other : one))[0];
    context.fillRect(column, y, 1, WAITS);
    times.clear();
  };
  for (let i = 0; i < band.waits.length; i += WAIT) {
    const begun = band.waits[i + 1];
    const lost = band.waits[i + 2];
    if (begun + lost < view.from || begun > view.until) continue;
    const isMatch = matched !== null && matched(band, band.waits[i], band.waits[i + 3]);
    if (marks !== isMatch) continue;
    const colour = data.colours[data.rows[band.waits[i]].pattern];
    const x = Math.max(xOf(begun), GUTTER);
    const right = Math.min(xOf(begun + lost), width);
    if (right - x < 1) {
      if (Math.floor(x) !== column) drawColumn();
      column = Math.floor(x);
      times.set(colour, (times.get(colour) || 0) + lost);
    } else {
      drawColumn();
      context.fillStyle = colour;
      context.fillRect(Math.round(x), y, Math.round(right) - Math.round(x), WAITS);
    }
  }
  drawColumn();
}

function drawEpochs(band, y) {
  const last = [];
  for (let i = 0; i < band.epochs.length; i += EPOCH) {
    const [, , lane, opened, activated, closed, ended] = band.epochs.slice(i, i + EPOCH);
    if (ended < view.from || opened > view.until || xOf(ended) <= (last[lane] || 0)) continue;
    const cuts = [opened, Math.min(activated, ended), Math.min(closed, ended), ended];
    for (let part = 0; part < 3; ++part) {
      const x = Math.max(xOf(cuts[part]), GUTTER);
      const right = Math.min(xOf(cuts[part + 1]), width);
      if (right <= x && part < 2) continue;
      context.fillStyle = EPOCH_SHADES[part];
      context.fillRect(x, y + lane * LANE, Math.max(right - x, 0.5), LANE - 1);
    }
    last[lane] = Math.ceil(xOf(ended));
  }
}

// The begin of an operation is darker, so that those that overlap can be told apart. Gives back the
// operations in sight, if there are few.
function drawOperations(band, y) {
  const inSight = [];
  let last = [-1, -1]; // of these columns
  for (let i = 0; i < band.operations.length; i += OPERATION) {
    const begun = band.operations[i + 3];
    const ended = begun + Math.max(band.operations[i + 4], 0);
    if (begun > view.until) break;
    if (ended < view.from) continue;
    if (inSight.length <= MOST_ARROWS) inSight.push({ band, operation: i });
    const x = Math.max(Math.round(xOf(begun)), GUTTER);
    const right = Math.max(Math.min(Math.round(xOf(ended)), width), x + 1);
    if (x === last[0] && right <= last[1]) continue;
    last = [x, right];
    context.fillStyle = colourOf(data.labels[band.operations[i]][0]);
    context.globalAlpha = 0.4;
    context.fillRect(x, y, right - x, OPERATIONS);
    context.globalAlpha = 1;
    if (begun >= view.from) context.fillRect(x, y, 1.5, OPERATIONS);
  }
  return inSight;
}

function drawTicks(ticks, y, colour) {
  const drawn = new Set(); // columns
  context.fillStyle = colour;
  for (let i = 0; i < ticks.length; i += TICK) {
    if (ticks[i] < view.from || ticks[i] > view.until) continue;
    const x = Math.round(xOf(ticks[i]));
    if (drawn.has(x)) continue;
    drawn.add(x);
    context.fillRect(x - 1, y, 2, TICKS);
  }
}

function drawSweeps(band, y) {
  context.fillStyle = SWEPT;
  let last = -1;
  for (let i = 0; i < band.sweeps.length; i += SWEEP) {
    const [begun, length] = band.sweeps.slice(i, i + SWEEP);
    if (begun + length < view.from || begun > view.until) continue;
    const x = Math.max(Math.floor(xOf(begun)), GUTTER);
    const right = Math.max(Math.ceil(xOf(begun + length)), x + 1);
    if (right <= last) continue;
    context.fillRect(x, y, right - x, SWEEPS);
    last = right;
  }
}

// From the operation to where it has taken place, and to where its notification was taken.
function drawArrows({ band, operation }, colours) {
  const [begun, , , target, arrived, taken] = band.operations.slice(operation + 3, operation + OPERATION);
  const from = [xOf(begun), yOf(band) + band.at.operations + OPERATIONS / 2];
  [arrived, taken].forEach((after, which) => {
    if (after < 0) return;
    const there = yOf(bands[target]) + bands[target].at.ticks + TICKS / 2;
    drawArrow(...from, xOf(begun + after), there, colours[which]);
  });
}

function drawArrow(x0, y0, x1, y1, colour) {
  const middle = Math.max(Math.abs(x1 - x0) / 2, 24);
  context.strokeStyle = context.fillStyle = colour;
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + middle, y0, x1 + middle, y1, x1 + 2, y1);
  context.stroke();
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 + 8, y1 - 4 - context.lineWidth / 2);
  context.lineTo(x1 + 8, y1 + 4 + context.lineWidth / 2);
  context.fill();
}

function drawChosen() {
  const { band, wait } = chosen;
  const [, begun, lost, late, step] = band.waits.slice(wait, wait + WAIT);
  const y = yOf(band);
  context.strokeStyle = context.fillStyle = INK;
  context.strokeRect(xOf(begun), y, Math.max(xOf(begun + lost) - xOf(begun), 2), WAITS);
  const from = bandOf.get(late);
  if (!from || step < 0) return;
  const [x0, y0] = [xOf(step), yOf(from) + WAITS / 2];
  context.beginPath();
  context.arc(x0, y0, 3, 0, 2 * Math.PI);
  context.fill();
  drawArrow(x0, y0, xOf(begun + lost), y + WAITS / 2, INK);
}

function draw() {
  const scale = window.devicePixelRatio || 1;
  width = canvas.clientWidth;
  canvas.style.height = `${shownHeight()}px`;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(shownHeight() * scale);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.font = "12px system-ui, sans-serif";
  drawAxis();
  context.save();
  context.beginPath();
  context.rect(0, AXIS, width, shownHeight());
  context.clip();
  const inSight = [];
  for (const band of bands) {
    const y = yOf(band);
    if (y > shownHeight() || y + band.height < AXIS) continue;
    context.fillStyle = "#5f6c78";
    context.textAlign = "right";
    context.fillText(short(band.name), GUTTER - 8, y + 11);
    context.fillStyle = "#f1f4f6";
    context.fillRect(GUTTER, y, width - GUTTER, WAITS);
    context.globalAlpha = matched ? 0.2 : 1;
    drawWaits(band, y, false);
    context.globalAlpha = 1;
    if (matched) drawWaits(band, y, true);
    drawEpochs(band, y + WAITS + 2);
    inSight.push(...drawOperations(band, y + band.at.operations));
    if (band.arrived) drawTicks(band.arrived, y + band.at.ticks, ARRIVED);
    if (band.taken) drawTicks(band.taken, y + band.at.ticks, TAKEN);
    drawSweeps(band, y + band.at.sweeps);
  }
  context.beginPath();
  context.rect(GUTTER, AXIS, width - GUTTER, shownHeight());
  context.clip();
  context.lineWidth = 1;
  if (inSight.length <= MOST_ARROWS) inSight.forEach((each) => drawArrows(each, [ARRIVED, TAKEN]));
  context.lineWidth = 2;
  for (const each of [kept, asked]) if (each) drawArrows(each, [INK, INK]);
  if (chosen) drawChosen();
  context.restore();
  canvas.dataset.from = view.from;
  canvas.dataset.until = view.until;
}

function show(from, until, top = view.top) {
  const least = Math.min(Math.max(until - from, SHORTEST), whole.until);
  view.from = Math.min(Math.max(from, 0), whole.until - least);
  view.until = view.from + least;
  view.top = Math.max(0, Math.min(top, height + AXIS - shownHeight()));
  draw();
}

function zoom(factor, x = (width + GUTTER) / 2) {
  const fixed = timeAt(Math.max(x, GUTTER));
  show(fixed - (fixed - view.from) * factor, fixed + (view.until - fixed) * factor);
}

// Choosing and marking

const titled = (name) => name[0].toUpperCase() + name.slice(1);

function choose(band, wait, moves) {
  chosen = { band, wait };
  kept = null;
  const [number, begun, lost, late, step] = band.waits.slice(wait, wait + WAIT);
  const row = data.rows[number];
  tableRows.forEach((each, index) => each.classList.toggle("chosen", index === number));
  if (tableRows[number].hidden) {
    at("minor").checked = true;
    showMinor();
  }
  const whom = late < 0 ? "" : `, for rank ${late}`;
  const when = step < 0 ? "" : ` The step of rank ${late} that ended it came at ${moment(step)}.`;
  const details = at("details");
  details.replaceChildren(swatch(data.colours[row.pattern]), `${titled(band.name)} waited ${duration(lost)}${whom}: ` +
    `${row.pattern}, in ${called(row)}${windowed(row.window)}, from ${moment(begun)} on.${when}`);
  if (!moves) return draw();
  const span = lost * 5;
  const below = band.top + band.height + AXIS - shownHeight();
  const top = band.top < view.top || below > view.top ? band.top - shownHeight() / 3 : view.top;
  show(begun + lost / 2 - span / 2, begun + lost / 2 + span / 2, top);
}

function mark(test) {
  matched = test;
  matches = null;
  next = 0;
  at("matches").textContent = "";
  if (!test) return draw();
  matches = [];
  for (const band of bands) {
    for (let i = 0; i < band.waits.length; i += WAIT) {
      if (test(band, band.waits[i], band.waits[i + 3])) matches.push({ band, wait: i });
    }
  }
  const begun = (each) => each.band.waits[each.wait + 1];
  matches.sort((one, other) => begun(one) - begun(other));
  go(0);
}

function go(index) {
  if (!matches) return;
  if (!matches.length) {
    at("matches").textContent = "No wait is found.";
    return draw();
  }
  next = (index + matches.length) % matches.length;
  at("matches").textContent =
    `${(next + 1).toLocaleString("en")} of ${matches.length.toLocaleString("en")} waits`;
  choose(matches[next].band, matches[next].wait, true);
}

function markRow(number) {
  at("search").value = "";
  mark((band, row) => row === number);
  canvas.scrollIntoView({ block: "nearest" });
}

// A number is a rank that waited or was late, or a process that waited; other words are looked for
// in the table's rows.
function search(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return mark(null);
  const found = /^(rank|process)?\s*(\d+)$/.exec(wanted);
  if (found) {
    const [, kind, digits] = found;
    const names = (kind ? [kind] : ["rank", "process"]).map((each) => `${each} ${+digits}`);
    const isLate = (late) => kind !== "process" && late === +digits;
    return mark((band, row, late) => names.includes(band.name) || isLate(late));
  }
  const hits = data.rows.map((row) =>
    `${row.pattern} ${called(row)} ${row.window}`.toLowerCase().includes(wanted));
  mark((band, row) => hits[row]);
}

const bandAt = (y) => bands.find((each) => y >= yOf(each) && y < yOf(each) + each.height);
const reachAt = (x) => timeAt(x + NEAR) - timeAt(x);

// The operation beneath the pointer, of several the one that has begun last; or the one that has come
// from another rank, of several the nearest.
function operationAt(x, y) {
  const band = bandAt(y);
  if (!band || x < GUTTER || y < AXIS) return null;
  const [time, reach, below] = [timeAt(x), reachAt(x), y - yOf(band)];
  if (below >= band.at.operations && below < band.at.ticks) {
    let found = null;
    for (let i = 0; i < band.operations.length; i += OPERATION) {
      const begun = band.operations[i + 3];
      if (begun > time + reach) break;
      if (begun + Math.max(band.operations[i + 4], 0) >= time - reach) found = { band, operation: i };
    }
    return found;
  }
  if (below < band.at.ticks || below >= band.at.sweeps) return null;
  let found = null;
  let nearest = reach;
  for (const ticks of [band.taken, band.arrived]) {
    for (let i = 0; ticks && i < ticks.length; i += TICK) {
      const away = Math.abs(ticks[i] - time);
      if (away > nearest) continue;
      nearest = away;
      found = { band: bands[ticks[i + 1]], operation: ticks[i + 2] };
    }
  }
  return found;
}

function inWords({ band, operation }) {
  const [label, window, bytes, begun, length, rank, target, arrived, taken] =
    band.operations.slice(operation, operation + OPERATION);
  const [name, about] = data.labels[label];
  const whom = target < 0 ? `rank ${rank} of the window` : bands[target].name;
  const parts = [`begun at ${moment(begun)}`];
  if (length >= 0) parts.push(`done after ${duration(length)}`);
  if (name === "send" && arrived >= 0) parts.push(`received ${duration(arrived)} after its begin`);
  if (taken >= 0) parts.push(`its notification was taken ${duration(taken)} after its begin`);
  return `${titled(band.name)}: ${name} of ${bytes.toLocaleString("en")} bytes to ${whom}` +
    `${windowed(data.windows[window])}, ${about}: ${parts.join("; ")}.`;
}

function ask(event) {
  const found = operationAt(event.offsetX, event.offsetY);
  const tip = at("tip");
  tip.hidden = !found;
  if (found) {
    tip.textContent = inWords(found);
    tip.style.left = `${Math.max(Math.min(event.clientX + 14, innerWidth - 370), 4)}px`;
    tip.style.top = `${Math.max(event.clientY - tip.offsetHeight - 12, 4)}px`;
  }
  if (found?.band === asked?.band && found?.operation === asked?.operation) return;
  asked = found;
  draw();
}

function pick(x, y) {
  kept = operationAt(x, y);
  if (kept) {
    chosen = null;
    at("details").textContent = inWords(kept);
    return draw();
  }
  const band = bandAt(y);
  if (!band || x < GUTTER || y < AXIS) return draw();
  const reach = reachAt(x);
  const time = timeAt(x);
  if (y < yOf(band) + WAITS) {
    let best = -1;
    for (let i = 0; i < band.waits.length; i += WAIT) {
      const begun = band.waits[i + 1];
      const near = begun - reach <= time && time <= begun + band.waits[i + 2] + reach;
      if (near && (best < 0 || band.waits[i + 2] > band.waits[best + 2])) best = i;
    }
    if (best >= 0) choose(band, best, false);
    return;
  }
  const lane = Math.floor((y - yOf(band) - WAITS - 2) / LANE);
  for (let i = 0; i < band.epochs.length; i += EPOCH) {
    const [name, kind, itsLane, opened, activated, closed, ended, completed] =
      band.epochs.slice(i, i + EPOCH);
    if (itsLane !== lane || time < opened - reach || time > ended + reach) continue;
    const parts = [[activated - opened, "deferred"], [closed - activated, "active"],
      [ended - closed, completed ? "from closing to completion" : "closed, never complete"]];
    const told = parts.filter(([length]) => length > 0);
    at("details").textContent = `${titled(band.name)}: ${data.kinds[kind].replace("_", " ")} epoch on window ` +
      `"${data.windows[name]}", opened at ${moment(opened)}: ` +
      told.map(([length, what]) => `${duration(length)} ${what}`).join(", ") + ".";
    return;
  }
}

// The pointer, wheel and keys

let drag = null;
canvas.onpointerdown = (event) => {
  canvas.setPointerCapture(event.pointerId);
  drag = { x: event.offsetX, y: event.offsetY, moved: false, ...view };
};
canvas.onpointermove = (event) => {
  if (!drag) return ask(event);
  const [x, y] = [event.offsetX - drag.x, event.offsetY - drag.y];
  drag.moved = drag.moved || Math.hypot(x, y) > 4;
  if (!drag.moved) return;
  const shift = (x / (width - GUTTER)) * (drag.until - drag.from);
  show(drag.from - shift, drag.until - shift, drag.top - y);
};
canvas.onpointerup = (event) => {
  if (drag && !drag.moved) pick(event.offsetX, event.offsetY);
  drag = null;
};
canvas.onpointercancel = () => (drag = null);
canvas.onpointerleave = () => {
  asked = null;
  at("tip").hidden = true;
  draw();
};
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  if (event.shiftKey) return show(view.from, view.until, view.top + event.deltaY);
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    const shift = (event.deltaX / width) * (view.until - view.from);
    return show(view.from + shift, view.until + shift);
  }
  zoom(Math.exp(Math.sign(event.deltaY) * 0.25), event.offsetX);
}, { passive: false });
canvas.onkeydown = (event) => {
  const tenth = (view.until - view.from) / 10;
  const keys = {
    "+": () => zoom(0.7),
    "-": () => zoom(1 / 0.7),
    ArrowLeft: () => show(view.from - tenth, view.until - tenth),
    ArrowRight: () => show(view.from + tenth, view.until + tenth),
    ArrowUp: () => show(view.from, view.until, view.top - 40),
    ArrowDown: () => show(view.from, view.until, view.top + 40),
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
};
at("in").onclick = () => zoom(0.5);
at("out").onclick = () => zoom(2);
at("whole").onclick = () => show(whole.from, whole.until, 0);
at("search").oninput = (event) => search(event.target.value);
at("search").onkeydown = (event) => {
  if (event.key === "Enter") go(next + 1);
};
at("next").onclick = () => go(next + 1);
at("previous").onclick = () => go(next - 1);
window.onresize = draw;

at("summary").textContent = data.ran;
if (data.empty_epochs.length > 0) at("empty").append(element("h2", "Epochs that moved nothing"));
for (const sentences of data.empty_epochs) at("empty").append(element("p", sentences.join(" ")));
for (const note of data.notes) at("notes").append(element("p", note, "problem"));
if (!data.rows.some((row) => !isMinor(row))) {
  at("notes").append(element("p", `No wait took ${100 * data.least_share} % of the run.`));
}
function explain(colour, text) {
  const entry = element("span");
  entry.append(swatch(colour), text);
  at("legend").append(entry);
}
for (const pattern of new Set(data.rows.map((row) => row.pattern))) {
  explain(data.colours[pattern], pattern);
}
const operationNames = [...new Set(data.labels.map((label) => label[0]))];
for (const colour of new Set(operationNames.map(colourOf))) {
  explain(colour, operationNames.filter((name) => colourOf(name) === colour).join(", "));
}
if (bands.some((band) => band.arrived)) explain(ARRIVED, "operation of another rank");
if (bands.some((band) => band.taken)) explain(TAKEN, "notification taken");
if (bands.some((band) => band.sweeps.length)) explain(SWEPT, "sweep of the progress agent");
at("on-operations").hidden = !bands.some((band) => band.operations.length || band.sweeps.length);
fillTable();
fillBars("waited", "waited");
fillBars("late", "late");
draw();
