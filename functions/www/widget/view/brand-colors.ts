/* Derives the widget's colours from those in the settings, so that all text is readable. Filled areas keep the colour
   of the settings; what changes is the text on them and their edge. */

type Rgb = [red: number, green: number, blue: number];

const LIGHT_SURFACE: Rgb = [255, 255, 255];
const DARK_SURFACE: Rgb = [24, 27, 32];
/** The colours of text on a filled area, in the order of preference. Either white or black is readable on any colour. */
const FILL_TEXTS = ["#ffffff", "#11181c", "#000000"] as const;
/** The minimum contrast ratio of text in WCAG 2.2, level AA. */
const MIN_TEXT_CONTRAST = 4.5;
/** The minimum contrast ratio of the edge of a control in WCAG 2.2, level AA. */
const MIN_CONTROL_CONTRAST = 3;
/** The minimum contrast ratio at which a message stands out from the surface. */
const MIN_BUBBLE_CONTRAST = 1.3;

const parse = (color: string): Rgb => {
  const value = parseInt(color.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
};
const format = (color: Rgb): string =>
  `#${color.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
const mix = (color: Rgb, other: Rgb, share: number): Rgb =>
  color.map((part, index) => part + ((other[index] ?? 0) - part) * share) as Rgb;

function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: Rgb, other: Rgb): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** Darkens a colour for a light surface, or lightens it for a dark one, until it has this contrast. */
function contrastingOn(surface: Rgb, color: Rgb, minContrast: number): Rgb {
  const target: Rgb = luminance(surface) > 0.5 ? [0, 0, 0] : [255, 255, 255];
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = mix(color, target, share);
    if (contrast(mixed, surface) >= minContrast) return mixed;
  }
  return target;
}

const textOn = (fill: Rgb): string =>
  FILL_TEXTS.find((text) => contrast(fill, parse(text)) >= MIN_TEXT_CONTRAST) ?? FILL_TEXTS[0];

/** Returns the properties of a filled area. Its edge is visible only if the fill does not stand out from the surface. */
function fillProperties(name: string, fill: Rgb, surface: Rgb, minContrast: number): string {
  const edge = contrastingOn(surface, fill, minContrast);
  return `--${name}-fill:${format(fill)};--${name}-edge:${format(edge)};--on-${name}-fill:${textOn(fill)};`;
}

function properties(color: string, color2: string | null, surface: Rgb): string {
  const brand = parse(color);
  return (
    fillProperties("brand", brand, surface, MIN_CONTROL_CONTRAST) +
    fillProperties("own", color2 === null ? brand : parse(color2), surface, MIN_BUBBLE_CONTRAST) +
    `--brand-text:${format(contrastingOn(surface, brand, MIN_TEXT_CONTRAST))}`
  );
}

/** Returns a style sheet that sets the brand's custom properties for the light and the dark theme. */
export function brandStyles(color: string, color2: string | null): string {
  return (
    `.root{${properties(color, color2, LIGHT_SURFACE)}}` +
    `@media(prefers-color-scheme:dark){.root{${properties(color, color2, DARK_SURFACE)}}}`
  );
}
