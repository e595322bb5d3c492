/* The methods of the widget's API as buttons, and the log of its callbacks. */

import { formatTime } from "./time";
import { callbackCalls, CALLS, codeOf, results, runCall, type Call } from "./widget-calls";

export function WidgetApiView() {
  return (
    <>
      <pre class="snippet">{scriptTag()}</pre>
      <div class="calls">
        {CALLS.map(({ title, calls }) => (
          <section key={title}>
            <h3>{title}</h3>
            <ul>
              {calls.map((call) => (
                <CallRow key={codeOf(call)} call={call} />
              ))}
            </ul>
          </section>
        ))}
      </div>
      <section class="callbacks">
        <h3>Callbacks</h3>
        <ol tabIndex={0} aria-label="Callbacks">
          {callbackCalls.value.map(({ number, at, text }) => (
            <li key={number}>
              <time>{formatTime(at)}</time>
              <span>{text}</span>
            </li>
          ))}
        </ol>
      </section>
    </>
  );
}

function CallRow({ call }: { call: Call }) {
  const result = results.value.get(call);
  return (
    <li>
      <button type="button" onClick={() => runCall(call)}>
        {codeOf(call)}
      </button>
      <output class={result?.isFailure ? "fail" : undefined}>{result?.text}</output>
    </li>
  );
}

/** The script tag with which this page includes the widget. */
function scriptTag(): string {
  const script = document.querySelector<HTMLScriptElement>("script[data-id]");
  return `<script async\n  src="${script?.src}"\n  data-id="${script?.dataset["id"]}"></script>`;
}
