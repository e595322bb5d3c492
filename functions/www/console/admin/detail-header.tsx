import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../../ui/icons";
import { usePageTitle } from "../state/page/page-title";
import { hrefOf, type Route } from "../state/page/route";
import { t } from "../../texts/translate";

export const DETAIL_FORM_ID = "detail-form";

interface DetailHeaderProps {
  name: string;
  /** The list from which the page was opened. */
  list: { name: string; route: Route };
  /** The state of the page's form, for the buttons in the header. Absent for a page without a form. */
  form?: { hasChanges: boolean; isBusy: boolean; onDiscard: () => void };
  children?: ComponentChildren;
}

/** The top of a detail page, with the buttons of its form. */
export function DetailHeader({ name, list, form, children }: DetailHeaderProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  usePageTitle(name || undefined);
  // Move the focus to the heading, because the link or button that opened the page is gone.
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <header class="detail-header">
      <a class="btn only-icon" href={hrefOf(list.route)} aria-label={list.name} title={list.name}>
        <Icon name="chevron-left" />
      </a>
      <h2 ref={heading} class="clip" dir="auto" tabIndex={-1}>
        {name}
      </h2>
      {children}
      <span class="grow" />
      {form !== undefined && <FormButtons {...form} />}
    </header>
  );
}

interface PageHeaderProps {
  title: string;
  /** Links to the other pages of the section. */
  tabs?: ComponentChildren;
  form?: DetailHeaderProps["form"] | undefined;
}

/** The top of a page of a section that has a form and no list. */
export const PageHeader = ({ title, tabs, form }: PageHeaderProps) => (
  <header class="detail-header settings-header">
    <h2>{title}</h2>
    {tabs}
    <span class="grow" />
    {form !== undefined && <FormButtons {...form} />}
  </header>
);

/** The buttons that save or discard the changes in the form of a page. */
function FormButtons({ hasChanges, isBusy, onDiscard }: NonNullable<DetailHeaderProps["form"]>) {
  return (
    <div class="form-buttons">
      {hasChanges && (
        <button type="button" class="btn" onClick={onDiscard}>
          {t`Discard`}
        </button>
      )}
      <button type="submit" form={DETAIL_FORM_ID} class="btn primary" aria-disabled={isBusy || !hasChanges}>
        {isBusy ? t`Saving…` : t`Save`}
      </button>
    </div>
  );
}

/** A part of a form, with a heading. */
export function FormSection({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="form-section">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** The problem of a whole form. It can receive the focus, see `useSettingsForm`. */
export function FormProblem({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p class="notice bad" role="alert" tabIndex={-1}>
      {text}
    </p>
  );
}
