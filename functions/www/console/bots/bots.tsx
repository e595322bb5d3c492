import { lazyComponent } from "../../ui/lazy-component";
import { route } from "../state/page/route";
import { BotPage } from "./bot-page";
import { BotsPage } from "./bots-page";

const PlaygroundPage = lazyComponent(() =>
  import("./playground/playground-page").then(({ PlaygroundPage }) => PlaygroundPage),
);

export function Bots() {
  const [botId, page] = route.value.path?.split("/") ?? [];
  if (botId === undefined) return <BotsPage />;
  return page === "playground" ? <PlaygroundPage key={botId} botId={botId} /> : <BotPage key={botId} botId={botId} />;
}
