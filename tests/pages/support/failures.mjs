/* Lets single requests of a page fail or wait, or changes their responses. All other requests reach the local host. */

/** Lets requests whose URL matches `path` fail, all of them or the first `times`, and only those with `method` if it is
    set. Other options are fields of the error. Returns a function that ends this. */
export async function fail(
  page,
  path,
  { method, status = 503, times = Infinity, headers, ...error } = {},
) {
  let left = times;
  const handle = (route) => {
    const isOther = method && route.request().method() !== method;
    if (isOther || left <= 0) return route.fallback();
    left--;
    const json = {
      error: { code: "unavailable", message: "busy", ...error },
    };
    return route.fulfill({ status, headers, json });
  };
  await page.route(path, handle);
  return () => page.unroute(path, handle);
}

/** Delays requests whose URL matches `path`. Returns a function that ends this. */
export async function delay(page, path, ms) {
  const handle = async (route) => {
    await new Promise((done) => setTimeout(done, ms));
    await route.fallback().catch(() => {});
  };
  await page.route(path, handle);
  return () => page.unroute(path, handle);
}

/** Holds the next request to a path. Returns a promise of its route, which the test must continue or fulfil. */
export const heldRequest = (page, path) =>
  new Promise((hold) => page.route(path, hold, { times: 1 }));

/** Holds all requests to a path until the returned function is called. */
export async function holdRequests(page, path) {
  let release;
  const isReleased = new Promise((done) => (release = done));
  await page.route(path, async (route) => {
    await isReleased;
    await route.fallback();
  });
  return release;
}

/** Lets `change` modify the JSON bodies of the responses to a path, for what no real service would send in a test. */
export const changeResponses = (page, path, change) =>
  page.route(path, async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    change(json);
    await route.fulfill({ response, json });
  });
