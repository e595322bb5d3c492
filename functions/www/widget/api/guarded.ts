export type Callback = (...args: unknown[]) => unknown;

/** Returns a function that calls a function of the page. An error in it is reported, and does not stop the widget. */
export const guarded =
  (callback: Callback): ((...args: unknown[]) => void) =>
  (...args) => {
    try {
      callback(...args);
    } catch (error) {
      setTimeout(() => {
        throw error;
      });
    }
  };
