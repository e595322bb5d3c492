/* Sets the selected theme before the first paint. It is a separate script without imports, so that it runs first. */

try {
  const storedTheme: unknown = JSON.parse(localStorage.getItem("switchboard.theme") ?? "null");
  if (storedTheme === "light" || storedTheme === "dark") document.documentElement.dataset["theme"] = storedTheme;
} catch {
  // Without access to storage the system's theme applies.
}

export {};
