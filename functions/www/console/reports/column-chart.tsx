/* A chart of stacked columns. It is read column by column with the pointer or the arrow keys, and as a slider with a
   screen reader. */

import { useState } from "preact/hooks";
import { countTicks } from "./chart-scale";
import { ChartFill } from "./chart-fill";
import { formatCount, formatUnits, totalOf, type Series, type Unit } from "./report-model";
import { useWidth } from "./use-width";

const HEIGHT = 200;
const TOP = 8;
const MARKER_LINE_HEIGHT = 16;
const BOTTOM = 24;
const MAX_COLUMN_WIDTH = 56;
const MIN_BAR_HEIGHT = 2;
const GAP_BETWEEN_BARS = 1;

interface ColumnChartProps {
  /** What the chart shows, such as "Chats a day". */
  label: string;
  /** The name of each column. */
  columns: readonly string[];
  series: readonly Series[];
  /** Labels of the horizontal axis, at positions measured in columns. */
  ticks: (width: number) => readonly { at: number; label: string }[];
  /** Vertical lines, each with a label. */
  markers?: readonly { at: number; label: string }[];
  /** What is counted, such as "chats". */
  unit: Unit;
}

export function ColumnChart({ label, columns, series, ticks, markers = [], unit }: ColumnChartProps) {
  const { element, width } = useWidth<HTMLDivElement>();
  const [selected, setSelected] = useState<number>();
  const last = columns.length - 1;
  const textOf = (index: number) => {
    const sum = series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0);
    const parts = series
      .filter(({ values }) => (values[index] ?? 0) > 0)
      .map(({ name, values }) => `${name} ${formatCount(values[index] ?? 0)}`);
    const rest = series.length > 1 && parts.length > 0 ? `: ${parts.join(", ")}` : "";
    return `${columns[index] ?? ""}, ${formatUnits(sum, unit)}${rest}`;
  };
  const all = series.reduce((sum, one) => sum + totalOf(one), 0);
  const onKeyDown = (event: KeyboardEvent) => {
    const current = selected ?? last;
    const target: Record<string, number> = {
      ArrowLeft: selected === undefined ? last : current - 1,
      ArrowRight: current + 1,
      Home: 0,
      End: last,
    };
    const next = target[event.key];
    if (event.key === "Escape") setSelected(undefined);
    if (next === undefined) return;
    event.preventDefault();
    setSelected(Math.max(0, Math.min(last, next)));
  };
  return (
    <div class="chart">
      <p class="readout" aria-hidden="true">
        {selected === undefined ? formatUnits(all, unit) : textOf(selected)}
      </p>
      <div
        ref={element}
        class="plot"
        role="slider"
        tabIndex={0}
        aria-label={`${label}, ${formatUnits(all, unit)}`}
        aria-orientation="horizontal"
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={selected ?? last}
        aria-valuetext={textOf(selected ?? last)}
        onKeyDown={onKeyDown}
        onBlur={() => setSelected(undefined)}
      >
        {width !== undefined && (
          <Plot
            width={Math.max(width, 160)}
            count={columns.length}
            series={series}
            ticks={ticks}
            markers={markers}
            selected={selected}
            onSelect={setSelected}
          />
        )}
      </div>
    </div>
  );
}

interface PlotProps extends Pick<ColumnChartProps, "series" | "ticks"> {
  width: number;
  count: number;
  markers: NonNullable<ColumnChartProps["markers"]>;
  selected: number | undefined;
  onSelect: (index: number | undefined) => void;
}

function Plot({ width, count, series, ticks, markers, selected, onSelect }: PlotProps) {
  const sums = Array.from({ length: count }, (_, index) =>
    series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
  );
  const counts = countTicks(Math.max(...sums));
  const highest = counts.at(-1) ?? 1;
  const left = 10 + 7 * formatCount(highest).length;
  const top = TOP + MARKER_LINE_HEIGHT * markers.length;
  const [plotWidth, plotHeight] = [width - left - 2, HEIGHT - top - BOTTOM];
  const columnWidth = plotWidth / count;
  const barWidth = Math.min(MAX_COLUMN_WIDTH, Math.max(1, columnWidth * 0.78));
  const x = (at: number) => left + at * columnWidth;
  const y = (value: number) => top + plotHeight * (1 - value / highest);
  const onPointer = (event: PointerEvent) => {
    const { left: start, width: shown } = (event.currentTarget as Element).getBoundingClientRect();
    // A scaled page shows the drawing at another width.
    const at = (((event.clientX - start) * width) / shown - left) / columnWidth;
    onSelect(Math.max(0, Math.min(count - 1, Math.floor(at))));
  };
  return (
    <svg
      viewBox={`0 0 ${width} ${HEIGHT}`}
      aria-hidden="true"
      onPointerMove={onPointer}
      onPointerDown={onPointer}
      onPointerLeave={() => onSelect(undefined)}
    >
      {counts.map((value) => (
        <g key={value}>
          <line class="grid" x1={left} x2={width} y1={y(value)} y2={y(value)} />
          <text x={left - 8} y={y(value) + 4} text-anchor="end">
            {formatCount(value)}
          </text>
        </g>
      ))}
      {selected !== undefined && (
        <rect class="selected" x={x(selected)} y={top} width={columnWidth} height={plotHeight} />
      )}
      {sums.map((_, index) => (
        <Column
          key={index}
          values={series.map(({ values, fill }) => ({ value: values[index] ?? 0, fill }))}
          x={x(index + 0.5) - barWidth / 2}
          width={barWidth}
          bottom={y(0)}
          scale={plotHeight / highest}
        />
      ))}
      {ticks(plotWidth).map(({ at, label }) => (
        <text key={label} x={Math.min(x(at), width - 3.5 * label.length)} y={HEIGHT - 6} text-anchor="middle">
          {label}
        </text>
      ))}
      {markers.map(({ at, label }, index) => {
        const isRight = x(at) < width / 2;
        return (
          <g key={label} class="marker">
            <line x1={x(at)} x2={x(at)} y1={TOP + MARKER_LINE_HEIGHT * index} y2={y(0)} />
            <text
              x={x(at) + (isRight ? 5 : -5)}
              y={TOP + MARKER_LINE_HEIGHT * index + 9}
              text-anchor={isRight ? "start" : "end"}
            >
              {label}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

interface ColumnProps {
  values: readonly { value: number; fill: Series["fill"] }[];
  x: number;
  width: number;
  bottom: number;
  /** The height of one unit. */
  scale: number;
}

function Column({ values, x, width, bottom, scale }: ColumnProps) {
  let base = bottom;
  return (
    <>
      {values.map(({ value, fill }) => {
        if (value === 0) return null;
        const height = Math.max(MIN_BAR_HEIGHT, value * scale - GAP_BETWEEN_BARS);
        base -= height + GAP_BETWEEN_BARS;
        return <ChartFill key={fill} fill={fill} x={x} y={base} width={width} height={height} />;
      })}
    </>
  );
}
