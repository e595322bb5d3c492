import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import { sentence } from "../../ui/words";
import { errorText } from "../state/page/error-text";

/** What is wrong with a form, by the name of the field. The key "" stands for the whole form. */
export type Problems = Readonly<Record<string, string>>;

/** Returns the service's message about a field, without the name that the field has in the API. An item of a list, such
 * as `safe_urls[1]`, is named by its position. */
export function fieldProblem({ field, message }: ApiError): string {
  const index = /\[(\d+)\]$/.exec(field ?? "")?.[1];
  if (field !== undefined && index !== undefined && message.startsWith(`${field} `))
    return sentence(`entry ${Number(index) + 1} ${message.slice(field.length + 1)}`);
  const text = field !== undefined && message.startsWith(`${field} `) ? message.slice(field.length + 1) : message;
  return sentence(text);
}

/** Returns the problems of a form after an error. `fields` are the names of the fields that show their own problems. An
 * error in a list, such as `agent_ids[3]`, is shown at the list. */
export function problemsOf(error: unknown, fields: readonly string[]): Problems {
  const reported = error instanceof ApiError ? error.field : undefined;
  const field = fields.find((name) => reported === name || reported?.startsWith(`${name}[`));
  return field !== undefined && error instanceof ApiError ? { [field]: fieldProblem(error) } : { "": errorText(error) };
}

/** Returns the problems of the other fields. */
function without(problems: Problems, field: string): Problems {
  const { [field]: problem, ...others } = problems;
  return problem === undefined ? problems : others;
}

/** The state of a form: its problems, and whether its request is running. `fields` are the names of the fields that
 * show their own problems. `explain` returns the problems after an error. */
export function useSettingsForm(
  fields: readonly string[],
  explain = (error: unknown): Problems => problemsOf(error, fields),
) {
  const form = useRef<HTMLFormElement>(null);
  const [problems, setProblems] = useState<Problems>({});
  const [isBusy, setBusy] = useState(false);
  const mustFocus = useRef(false);

  // Move the focus to the first field that is marked as invalid, or to the problem of the whole form.
  useLayoutEffect(() => {
    if (Object.keys(problems).length === 0 || !mustFocus.current) return;
    mustFocus.current = false;
    const element = form.current?.querySelector<HTMLElement>("[aria-invalid=true], [role=alert]");
    element?.focus({ preventScroll: true });
    element?.scrollIntoView({ block: "center" });
  }, [problems]);

  // A field is no longer marked once it is changed. Its new value is checked when the form is sent.
  useEffect(() => {
    const element = form.current;
    const onChange = ({ target }: Event) => {
      if (!(target instanceof HTMLElement)) return;
      const field = target.closest<HTMLElement>("[data-field]")?.dataset["field"] ?? target.id;
      setProblems((current) => without(current, field));
    };
    element?.addEventListener("input", onChange);
    return () => element?.removeEventListener("input", onChange);
  }, [form.current]);

  /** Sends the form's request unless `found` contains problems. Returns the response, or undefined if nothing was sent
   * or the request failed. */
  const send = async <Response>(found: Problems, request: () => Promise<Response>): Promise<Response | undefined> => {
    if (isBusy) return undefined;
    mustFocus.current = true;
    setProblems(found);
    if (Object.keys(found).length > 0) return undefined;
    setBusy(true);
    try {
      return await request();
    } catch (error) {
      mustFocus.current = true;
      setProblems(explain(error));
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return { form, problems, setProblems, isBusy, send };
}
