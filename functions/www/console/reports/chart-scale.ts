/* The scales of charts. */

import { t } from "../../texts/translate";

const NICE_STEPS = [1, 2, 5, 10];

/** Returns the labels of an axis for whole numbers: from zero, in equal steps, up to at least `max`. */
export function countTicks(max: number, steps = 4): number[] {
  const rough = Math.max(1, max) / steps;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, power * (NICE_STEPS.find((nice) => nice * power >= rough - 1e-9) ?? 10));
  const count = Math.ceil(Math.max(1, max) / step);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** Returns the indexes of the values that have a label, on an axis with `count` values and room for `room` labels. The
 * last value has a label, because it is today. */
export function labelIndexes(count: number, room: number): number[] {
  const step = [1, 2, 7, 14, 30].find((step) => Math.ceil(count / step) <= room) ?? 45;
  const indexes: number[] = [];
  for (let index = count - 1; index >= 0; index -= step) indexes.unshift(index);
  return indexes;
}

/** Times at which an axis of durations can have a label, in seconds. */
const FAMILIAR_TIMES = [
  [1, t`1 s`],
  [10, t`10 s`],
  [60, t`1 min`],
  [600, t`10 min`],
  [3600, t`1 h`],
  [21_600, t`6 h`],
  [86_400, t`1 d`],
  [604_800, t`7 d`],
  [2_592_000, t`30 d`],
] as const;

/** Returns the labels of an axis from `2 ** from` to `2 ** to` seconds. `at` is the base-2 logarithm of a label's
 * seconds. */
export const timeTicks = (from: number, to: number): { at: number; label: string }[] =>
  FAMILIAR_TIMES.map(([seconds, label]) => ({ at: Math.log2(seconds), label })).filter(
    ({ at }) => at >= from && at <= to,
  );
