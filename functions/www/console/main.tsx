import "../ui/tokens.css";
import "../ui/base.css";
import { render } from "preact";
import { startClock } from "../ui/time";
import { followTheme } from "../ui/theme";
import { App } from "./app";
import { followRoute } from "./state/route";

followTheme();
startClock();
followRoute();

const root = document.getElementById("root");
if (root !== null) render(<App />, root);
