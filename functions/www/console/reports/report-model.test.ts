import assert from "node:assert/strict";
import { test } from "node:test";
import type { Report, ReportTotals } from "../../api/types";
import { formatSeconds } from "../../ui/time";
import { countTicks, labelIndexes, timeTicks } from "./chart-scale";
import {
  agentTable,
  callTable,
  channelSeries,
  columnRange,
  dateRange,
  dayTable,
  durationColumns,
  durationTable,
  failureTable,
  figuresOf,
  formatUnits,
  settledSeries,
  stillOpen,
} from "./report-model";

const DURATION = { count: 0, median: null, percentile_90: null };
const CALLS = { answered: 0, failed: 0 };
const totals = (changes: Partial<ReportTotals> = {}): ReportTotals => ({
  opened: 0,
  settled_by: { agent: 0, bot: 0, nobody: 0 },
  first_answer: DURATION,
  answers: { in_time: 0, late: 0 },
  length: DURATION,
  talk_time: DURATION,
  ratings: { positive: 0, negative: 0 },
  failed_deliveries: { channel: 0, bot: 0, webhook: 0, sqs: 0, eventbridge: 0, telephony: 0 },
  calls: { callback: CALLS, incoming: CALLS, outgoing: CALLS },
  drafts: { suggested: 0, taken: 0, edited: 0, ignored: 0 },
  ...changes,
});
const reportOf = (changes: Partial<Report> = {}): Report => ({
  time_zone: "Europe/Berlin",
  percentile_error: 0.091,
  total: totals(),
  previous: totals(),
  distributions: { first_answer: [], length: [], talk_time: [] },
  days: [
    { day: "2026-11-21", totals: totals() },
    { day: "2026-11-22", totals: totals() },
  ],
  channels: [],
  agents: [],
  ...changes,
});
const figure = (report: Report, name: string) => {
  const found = figuresOf(report).find((figure) => figure.name === name);
  assert.ok(found, name);
  return found;
};

test("suggested answers are shown only if there are any", () => {
  const drafts = { suggested: 8, taken: 3, edited: 1, ignored: 4 };
  const shown = figure(reportOf({ total: totals({ drafts }) }), "Suggested answers used");
  assert.equal(shown.value, "50 %");
  assert.equal(shown.note, "of 8 suggestions: 3 as they were, 1 edited, 4 ignored");
  assert.ok(figuresOf(reportOf()).every(({ name }) => name !== "Suggested answers used"));
});

test("answers in time are shown only if there are time limits", () => {
  const shown = figure(reportOf({ total: totals({ answers: { in_time: 3, late: 1 } }) }), "Answered in time");
  assert.equal(shown.value, "75 %");
  assert.equal(shown.note, "1 of 4 answers late");
  assert.ok(figuresOf(reportOf()).every(({ name }) => name !== "Answered in time"));
});

test("numbers of chats are compared with the days before", () => {
  const note = (opened: number, before: number) =>
    figure(reportOf({ total: totals({ opened }), previous: totals({ opened: before }) }), "Chats").note;
  assert.equal(note(112, 100), "12 % more than in the 2 days before");
  assert.equal(note(50, 100), "50 % fewer than in the 2 days before");
  assert.equal(note(100, 100), "as many as in the 2 days before");
  assert.equal(note(3, 0), "none in the 2 days before");
  assert.equal(note(0, 3), "3 in the 2 days before");
  const today = reportOf({ days: [{ day: "2026-11-22", totals: totals() }], total: totals({ opened: 2 }) });
  assert.equal(figure(today, "Chats").note, "none yesterday");
});

test("failures are marked as bad only if there were fewer before", () => {
  const failing = (webhook: number) =>
    totals({ failed_deliveries: { channel: 0, bot: 0, webhook, sqs: 0, eventbridge: 0, telephony: 0 } });
  const toneOf = (before: number) =>
    figure(reportOf({ total: failing(3), previous: failing(before) }), "Failed deliveries").tone;
  assert.equal(toneOf(1), "bad");
  assert.equal(toneOf(0), undefined, "none before");
  assert.equal(formatUnits(1, "chats"), "1 chat");
  assert.equal(formatUnits(1200, "calls"), "1,200 calls");
  assert.equal(formatUnits(1, "failed"), "1 failed");
});

test("durations are compared if they differ by more than their error", () => {
  const answers = (median: number) => totals({ first_answer: { count: 9, median, percentile_90: median } });
  const compared = (now: number, before: number) =>
    figure(reportOf({ total: answers(now), previous: answers(before) }), "First answer, median");
  assert.deepEqual(compared(41, 60), {
    name: "First answer, median",
    value: "41 s",
    note: "19 s quicker",
    tone: "good",
  });
  assert.equal(compared(200, 60).tone, "bad");
  assert.equal(compared(41, 43).note, "about as in the 2 days before");
  assert.equal(figure(reportOf(), "First answer, median").value, "–");
});

test("shares are of closed chats and of ratings", () => {
  const report = reportOf({
    total: totals({
      opened: 12,
      settled_by: { agent: 4, bot: 5, nobody: 1 },
      ratings: { positive: 3, negative: 1 },
    }),
    previous: totals({ settled_by: { agent: 1, bot: 1, nobody: 0 }, ratings: { positive: 4, negative: 0 } }),
  });
  const bot = figure(report, "Settled by the bot");
  assert.deepEqual([bot.value, bot.note], ["50 %", "5 of 10 closed chats"]);
  const rated = figure(report, "Rated positive");
  assert.deepEqual([rated.value, rated.note], ["75 %", "of 4 ratings, 25 points less"]);
  assert.equal(stillOpen(report.total), 2);
});

test("table has a line for each day and the sum of its series", () => {
  const settled = totals({ opened: 7, settled_by: { agent: 3, bot: 2, nobody: 1 } });
  const report = reportOf({ days: [{ day: "2026-11-22", totals: settled }] });
  assert.deepEqual(dayTable(report, settledSeries(report)), {
    columns: ["Day", "Agents", "Bot", "Nobody", "Still open", "All"],
    rows: [["2026-11-22", 3, 2, 1, 1, 7]],
  });
  assert.equal(dateRange(report.days), "22 Nov 2026");
  assert.equal(dateRange(reportOf().days), "21 Nov – 22 Nov 2026");
});

test("chats of small channels are summed up", () => {
  const withDays = (...opened: number[]) =>
    reportOf({ days: opened.map((opened, index) => ({ day: `2026-11-0${index + 1}`, totals: totals({ opened }) })) });
  const shop = { name: "Shop", report: withDays(3, 4) };
  const values = (series: ReturnType<typeof channelSeries>) => series.map(({ name, values }) => [name, ...values]);
  assert.deepEqual(values(channelSeries(withDays(5, 3), [shop])), [
    ["Shop", 3, 4],
    ["Others", 2, 0],
  ]);
  assert.deepEqual(values(channelSeries(withDays(3, 4), [shop])), [["Shop", 3, 4]]);
});

test("ranges of durations are joined into doublings without gaps", () => {
  const step = 2 ** 0.25;
  const columns = durationColumns([
    { from: 0, to: 1, count: 2 },
    { from: 4, to: 4 * step, count: 3 },
    { from: 4 * step ** 3, to: 8, count: 1 },
    { from: 8 * (1 - 1e-12), to: 8 * step, count: 4 },
  ]);
  assert.deepEqual(
    columns.map(({ count }) => count),
    [2, 0, 0, 4, 4],
  );
  assert.deepEqual(columns.map(columnRange).slice(0, 2), ["under 1 s", "1 s to 2 s"]);
  assert.deepEqual(durationTable(columns, "chats").rows.at(-1), ["8 s to 16 s", 4, 100]);
  assert.deepEqual(durationColumns([]), []);
});

test("agents, failures and calls are listed", () => {
  const report = reportOf({
    total: totals({ settled_by: { agent: 8, bot: 2, nobody: 0 } }),
    agents: [
      { agent_id: 1, name: "Marta", chats: 2 },
      { agent_id: 4, name: null, chats: 6 },
    ],
    channels: [
      { channel_id: "a", name: "Shop", totals: totals() },
      {
        channel_id: "b",
        name: "App",
        totals: totals({ failed_deliveries: { channel: 1, bot: 2, webhook: 3, sqs: 0, eventbridge: 0, telephony: 0 } }),
      },
    ],
  });
  assert.deepEqual(agentTable(report).rows, [
    ["Deleted agent 4", 6, 60],
    ["Marta", 2, 20],
  ]);
  assert.deepEqual(failureTable(report).rows, [["App", 1, 3, 0, 0, 2, 0, 6]]);
  assert.equal(callTable(report).columns.length, 7);
});

test("axes have few labels at round numbers", () => {
  assert.deepEqual(countTicks(78), [0, 20, 40, 60, 80]);
  assert.deepEqual(countTicks(3), [0, 1, 2, 3]);
  assert.deepEqual(countTicks(0), [0, 1]);
  assert.deepEqual(labelIndexes(7, 10), [0, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual(labelIndexes(30, 6), [1, 8, 15, 22, 29]);
  assert.deepEqual(labelIndexes(1, 2), [0]);
  assert.deepEqual(
    timeTicks(0, 6).map(({ label }) => label),
    ["1 s", "10 s", "1 min"],
  );
});

test("seconds are written with at most two units", () => {
  for (const [seconds, text] of [
    [0.5, "under 1 s"],
    [4.24, "4.2 s"],
    [41.4, "41 s"],
    [200, "3 min 20 s"],
    [120, "2 min"],
    [7500, "2 h 5 min"],
    [86_399, "1 d"],
    [90_000, "1 d 1 h"],
  ] as const)
    assert.equal(formatSeconds(seconds), text);
});
