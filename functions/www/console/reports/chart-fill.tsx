/* How the parts of a chart are filled: with a colour, a pattern or an outline. Patterns and outlines help to tell the
   parts apart in greyscale, and help people who do not see the colours. */

import type { Fill, Series } from "./report-model";

const patternId = (fill: Fill) => `fill-${fill}`;
const PATTERNS = ["stripes", "dots", "danger-stripes"] as const;
const hasPattern = (fill: Fill): boolean => PATTERNS.some((pattern) => pattern === fill);

interface ChartFillProps {
  fill: Fill;
  x: number;
  y: number;
  width: number;
  height: number;
}

export function ChartFill({ fill, x, y, width, height }: ChartFillProps) {
  if (fill === "rest")
    return (
      <rect class="fill-rest" x={x + 0.5} y={y + 0.5} width={Math.max(0, width - 1)} height={Math.max(0, height - 1)} />
    );
  const paint = hasPattern(fill) ? { fill: `url(#${patternId(fill)})` } : { class: `fill-${fill}` };
  return <rect {...paint} x={x} y={y} width={width} height={height} />;
}

/** The patterns of a page with charts. */
export const ChartPatterns = () => (
  <svg class="chart-patterns" aria-hidden="true">
    <pattern id={patternId("stripes")} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect class="back" width="5" height="5" />
      <rect class="fill-stripes" width="2.5" height="5" />
    </pattern>
    <pattern id={patternId("dots")} width="4" height="4" patternUnits="userSpaceOnUse">
      <rect class="back" width="4" height="4" />
      <rect class="fill-dots" width="2.4" height="2.4" />
    </pattern>
    <pattern
      id={patternId("danger-stripes")}
      width="5"
      height="5"
      patternUnits="userSpaceOnUse"
      patternTransform="rotate(-45)"
    >
      <rect class="back" width="5" height="5" />
      <rect class="fill-danger" width="2.5" height="5" />
    </pattern>
  </svg>
);

export const Legend = ({ series }: { series: readonly Series[] }) => (
  <ul class="legend" aria-hidden="true">
    {series.map(({ name, fill }, index) => (
      <li key={index}>
        <svg viewBox="0 0 12 12">
          <ChartFill fill={fill} x={0} y={0} width={12} height={12} />
        </svg>
        <span class="clip" dir="auto">
          {name}
        </span>
      </li>
    ))}
  </ul>
);
