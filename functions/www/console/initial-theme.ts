/* Sets the chosen theme before the first paint. Runs before everything else, so it imports nothing. */

try {
  const theme: unknown = JSON.parse(localStorage.getItem("switchboard.theme") ?? "null");
  if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
} catch {
  // The system's theme then.
}

export {};
