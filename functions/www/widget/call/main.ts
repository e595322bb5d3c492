/* The bundle that makes calls. The widget imports it when a page or a visitor needs it, so that it does not count
   towards the first load. It is built on its own and contains copies of the modules that it shares with the widget:
   none of them may keep state, and `instanceof` does not recognize the widget's objects. */

import type { CallParts, Calls } from "../parts";
import { VisitorCalls } from "./visitor-calls";

export const start = (parts: CallParts): Calls => new VisitorCalls(parts);
