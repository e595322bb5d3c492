import "../ui/tokens.css";
import "../ui/base.css";
import { render } from "preact";
import { startClock } from "../ui/time";
import { applyTheme } from "../ui/theme";
import { App } from "./app";
import { SECTIONS } from "./sections";
import { startRouting } from "./state/page/route";
import { language } from "../texts/translate";

document.documentElement.lang = language;
applyTheme();
startClock();
startRouting(SECTIONS.map(({ name }) => name));

const root = document.getElementById("root");
if (root !== null) render(<App />, root);
