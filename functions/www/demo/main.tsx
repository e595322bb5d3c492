/* The demo site: the shop, and the panel beside it. */

import "../ui/tokens.css";
import "./shop.css";
import "./panel/panel.css";
import { render } from "preact";
import { tabStorage } from "../ui/storage";
import { Panel } from "./panel/panel";
import { recordCallbacks } from "./panel/widget-calls";
import { startJournal } from "./panel/journal";
import { startShop } from "./shop";

recordCallbacks();
startShop();
startJournal();
// Remove the session of an earlier visit, with which the console would ignore the sign-in link: the frame with the
// console shares this tab's storage.
tabStorage.remove("session");
const root = document.getElementById("panel");
if (root !== null) render(<Panel />, root);
