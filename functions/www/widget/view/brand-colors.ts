/* Derives the widget's colours from those in the settings, so that all text is readable. */

type Rgb = [red: number, green: number, blue: number];

const LIGHT_SURFACE: Rgb = [255, 255, 255];
const DARK_SURFACE: Rgb = [24, 27, 32];
const LIGHT_TEXT = "#ffffff";
const DARK_TEXT = "#11181c";
/** The minimum contrast ratio of text in WCAG 2.2, level AA. */
const MIN_CONTRAST = 4.5;
/** The minimum contrast ratio at which a filled area stands out from the surface. */
const MIN_FILL_CONTRAST = 1.3;

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

/** Darkens a colour for a light surface, or lightens it for a dark one, until text in this colour is readable. */
function readableOn(color: Rgb, surface: Rgb): Rgb {
  const target: Rgb = luminance(surface) > 0.5 ? [0, 0, 0] : [255, 255, 255];
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = mix(color, target, share);
    if (contrast(mixed, surface) >= MIN_CONTRAST) return mixed;
  }
  return target;
}

const textOn = (color: Rgb): string =>
  contrast(color, parse(LIGHT_TEXT)) >= contrast(color, parse(DARK_TEXT)) ? LIGHT_TEXT : DARK_TEXT;

function properties(color: string, color2: string | null, surface: Rgb): string {
  const brand = parse(color);
  // Adjust a brand colour that does not stand out: a dark one on the dark surface, or a light one on the light surface.
  const fill = contrast(brand, surface) >= MIN_FILL_CONTRAST ? brand : readableOn(brand, surface);
  const second = color2 === null ? fill : parse(color2);
  return (
    `--brand-fill:${format(fill)};--on-brand-fill:${textOn(fill)};` +
    `--own-fill:${format(second)};--on-own-fill:${textOn(second)};--brand-text:${format(readableOn(brand, surface))}`
  );
}

/** Returns a style sheet that sets the brand's custom properties for the light and the dark theme. */
export function brandStyles(color: string, color2: string | null): string {
  return (
    `.root{${properties(color, color2, LIGHT_SURFACE)}}` +
    `@media(prefers-color-scheme:dark){.root{${properties(color, color2, DARK_SURFACE)}}}`
  );
}
