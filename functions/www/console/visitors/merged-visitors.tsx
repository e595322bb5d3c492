import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import type { Visitor } from "../../api/types";
import { toast } from "../../ui/toast";
import { useMounted } from "../../ui/use-mounted";
import { FormProblem } from "../admin/detail-header";
import { useLoaded } from "../admin/use-loaded";
import { isAnonymous, visitorName } from "../state/list/chats";
import { errorText } from "../state/page/error-text";
import { VISITORS_ROUTE } from "../state/page/page-routes";
import { hrefOf } from "../state/page/route";
import { useWorkspace } from "../workspace-context";
import { visitorByNumber } from "./visitor-by-number";
import { t } from "../../texts/translate";

interface MergedVisitorsProps {
  visitor: Pick<Visitor, "number" | "merged_with">;
  /** The heading, which receives the focus after a change. */
  heading: RefObject<HTMLHeadingElement | null>;
  onSeparated: (visitor: Visitor) => void;
}

/** Lists the visitors with whom a visitor is merged, and separates the visitor from them. */
export function MergedVisitors({ visitor, heading, onSeparated }: MergedVisitorsProps) {
  const { number, merged_with: mergedWith = [] } = visitor;
  return (
    <section class="form-section">
      <h3 ref={heading} tabIndex={-1}>
        {t`Merged with`}
      </h3>
      {mergedWith.length === 0 ? (
        <p class="quiet-text">{t`This visitor is not merged with another one.`}</p>
      ) : (
        <>
          <ul class="bullets">
            {mergedWith.map((other) => (
              <MergedVisitor key={other} number={other} />
            ))}
          </ul>
          <Separation number={number} onSeparated={onSeparated} />
        </>
      )}
    </section>
  );
}

/** The visitor with a link to the visitor's chat, or only the number of one whom the agent does not see. */
function MergedVisitor({ number }: { number: number }) {
  const { api } = useWorkspace();
  const { value } = useLoaded(async () => (await visitorByNumber(api, number)) ?? "hidden");
  if (value === "hidden") return <li>{t`Visitor ${number}`}</li>;
  return (
    <li>
      <a class="link" href={hrefOf({ ...VISITORS_ROUTE, id: number })} dir="auto">
        {visitorName({ visitor: value ?? { number, name: "" } })}
      </a>
      {value !== undefined && !isAnonymous(value.name) && <> · {t`Visitor ${number}`}</>}
    </li>
  );
}

function Separation({ number, onSeparated }: { number: number; onSeparated: (visitor: Visitor) => void }) {
  const { visitors } = useWorkspace();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const isOpen = useMounted();
  const separate = async () => {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const separated = await visitors.separate(number);
      toast(t`Visitor ${number} is separated.`);
      onSeparated(separated);
    } catch (error) {
      if (!isOpen.current) toast(t`Visitor ${number} is not separated. ${errorText(error)}`, { isBad: true });
      setProblem(errorText(error));
      setBusy(false);
    }
  };
  return (
    <>
      <p id="separation" class="quiet-text">
        {t`Once separated, visitor ${number} is a person of their own again.`}{" "}
        {t`Each visitor is then shown with only their own profile and chats.`}
      </p>
      <FormProblem text={problem} />
      <div>
        <button
          type="button"
          class="btn line"
          aria-describedby="separation"
          aria-disabled={isBusy}
          onClick={() => void separate()}
        >
          {isBusy ? t`Separating…` : t`Separate visitor ${number}`}
        </button>
      </div>
    </>
  );
}
