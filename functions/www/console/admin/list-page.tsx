/* What the lists of the pages for admins have in common. */

import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "../../ui/icons";
import { usePageTitle } from "../state/page/page-title";
import { hrefOf, route, type Route } from "../state/page/route";
import { t } from "../../texts/translate";

interface ListPageProps {
  title: string;
  tabs?: ComponentChildren;
  search?: { label: string; placeholder: string; text: string; onInput: (text: string) => void };
  /** The button beside the search field. */
  action?: { label: string; icon: IconName; run: () => void } | undefined;
  children: ComponentChildren;
}

/** A page with a heading, a search field and a list. */
export function ListPage({ title, tabs, search, action, children }: ListPageProps) {
  return (
    <div class="table-page">
      <header>
        <h2>{title}</h2>
        {tabs}
        {search !== undefined && <SearchField {...search} />}
        <span class="grow" />
        {action !== undefined && (
          <button type="button" class="btn primary" aria-label={action.label} onClick={action.run}>
            <Icon name={action.icon} />
            <span>{action.label}</span>
          </button>
        )}
      </header>
      <div class="scroll">{children}</div>
    </div>
  );
}

function SearchField({ label, placeholder, text, onInput }: NonNullable<ListPageProps["search"]>) {
  return (
    <label class="search">
      <Icon name="search" />
      <input
        type="search"
        placeholder={placeholder}
        aria-label={label}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}

interface PageTab {
  name: string;
  /** The title of the page in the browser's tab, unless it is the name. */
  title?: string;
  route: Route;
}

/** Links to the pages of a section. */
export function PageTabs({ label, tabs }: { label: string; tabs: readonly PageTab[] }) {
  const { query: _, ...page } = route.value;
  const current = hrefOf(page);
  const shown = tabs.find((tab) => hrefOf(tab.route) === current);
  usePageTitle(shown?.title ?? shown?.name);
  return (
    <nav class="page-tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.name} href={hrefOf(tab.route)} aria-current={hrefOf(tab.route) === current ? "page" : undefined}>
          {tab.name}
        </a>
      ))}
    </nav>
  );
}

/** Shown in place of a list without rows, or of a page whose subject does not exist. */
export function EmptyList({ icon, title, text }: { icon: IconName; title: string; text?: string | undefined }) {
  return (
    <div class="blank">
      <Icon name={icon} />
      <h2>{title}</h2>
      {text !== undefined && <p>{text}</p>}
    </div>
  );
}

export function LoadFailure({ title, text, onRetry }: { title: string; text: string; onRetry: () => void }) {
  return (
    <div class="blank bad" role="alert">
      <Icon name="circle-alert" />
      <h2>{title}</h2>
      <p>{text}</p>
      <button type="button" class="btn line" onClick={onRetry}>
        {t`Try again`}
      </button>
    </div>
  );
}

export const Loading = () => <p class="blank appear-late">{t`Loading…`}</p>;

interface LoadedPageProps<Value> {
  loaded: { value: Value | undefined; problem: string | undefined; isMissing?: boolean; reload: () => void };
  /** What is loaded, such as "The channels". */
  what: string;
  children: (value: Value) => ComponentChildren;
}

/** Shows a value once it is loaded. Until then, shows that it is loading or why it cannot be loaded. If reloading
 * fails, shows the problem above the previous value. */
export function LoadedPage<Value>({ loaded, what, children }: LoadedPageProps<Value>) {
  const { value, problem, isMissing, reload } = loaded;
  if (value !== undefined)
    return (
      <>
        {problem !== undefined && (
          <p class="notice bad" role="alert">
            <span>{t`Not everything could be loaded. ${problem}`}</span>
            <button type="button" class="btn line" onClick={reload}>
              {t`Try again`}
            </button>
          </p>
        )}
        {children(value)}
      </>
    );
  if (problem === undefined) return <Loading />;
  if (isMissing === true)
    return <EmptyList icon="circle-alert" title={t`${what} does not exist`} text={t`It may have been deleted.`} />;
  return <LoadFailure title={t`${what} could not be loaded`} text={problem} onRetry={reload} />;
}
