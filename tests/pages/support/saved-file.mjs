import { readFile } from "node:fs/promises";

/** Saves a file with a button, and returns its name and its text. */
export async function savedFile(page, button) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    button.click(),
  ]);
  const text = await readFile(await download.path(), "utf8");
  return { name: download.suggestedFilename(), text };
}
