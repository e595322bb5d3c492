/* Sets the selected theme before the first paint. This is a separate script without imports, so that it runs first. */

try {
  const storedTheme: unknown = JSON.parse(localStorage.getItem("switchboard.theme") ?? "null");
  if (storedTheme === "light" || storedTheme === "dark") document.documentElement.dataset["theme"] = storedTheme;
} catch {
  // If access to storage is blocked, the page uses the system's theme.
}

export {};
