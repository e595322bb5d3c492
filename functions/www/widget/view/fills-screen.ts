/** Whether the window fills the screen. The style sheets contain the same media query. */
export const fillsScreen = (): boolean => matchMedia("(max-width: 480px)").matches;
