/* Sets the chosen theme before the first paint. Runs before everything else, so it imports nothing. */

try {
  const storedTheme: unknown = JSON.parse(localStorage.getItem("switchboard.theme") ?? "null");
  if (storedTheme === "light" || storedTheme === "dark") document.documentElement.dataset["theme"] = storedTheme;
} catch {
  // The system's theme then.
}

export {};
