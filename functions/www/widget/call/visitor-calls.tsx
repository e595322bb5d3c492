/** @jsxImportSource #widget */
/* The visitor's calls: asks for callbacks, follows their progress, and tells the page and the visitor about it. */

import { backoffDelayMs } from "../../socket/backoff";
import { DISABLED, isCallable, UNAVAILABLE, type Result } from "../api/arguments";
import { randomId } from "../chat/random-id";
import type { CallParts, Calls } from "../parts";
import type { RuleCommand } from "../rules/rules";
import type { ServiceError } from "../service/client";
import type { Call } from "../service/types";
import type { FormValues } from "../visitor/contact-rules";
import { CallButton, CallScreen, progressLine } from "./call-screen";
import { endResult, isBefore, isFinal } from "./call-status";
import { callTexts } from "./call-texts";
import { REQUESTED_CALL } from "./requested-call";

/** A call that this browser has asked for. */
interface RequestedCall {
  messageId: string;
  phone: string;
  /** Unix time in milliseconds. */
  at: number;
}
type CallResponse = Result & { chat_id: number; seq: number; call: Call };

const OFFERED_ON = "call-offered-on";
const AVAILABLE_AT = "call-available-at";
const MAX_ATTEMPTS = 3;
/** How long startCall returns the last known problem without asking the service again. */
const PROBLEM_LIFETIME_MS = 60_000;
/** How long the button is shown without asking the service again. */
const AVAILABILITY_LIFETIME_MS = 600_000;
/** No call lasts longer. After this time, the request for the call is no longer repeated to read its end. The service
 * recognizes a repeated request for 24 hours; a later one would start another call. */
const MAX_CALL_AGE_MS = 5 * 3_600_000;

export class VisitorCalls implements Calls {
  /** The call in progress, or the last one since the form was opened. */
  #call: Call | null = null;
  /** Whether the page knows that the call has started. */
  #isAnnounced = false;
  /** The id of the call in progress, if a push or a response has named it. */
  #id: string | undefined;
  #endedId: string | undefined;
  /** The last request, as long as it is not known whether the service has received it. */
  #unconfirmed: RequestedCall | undefined;
  #availability: Result | undefined;
  #problemTimer: ReturnType<typeof setTimeout> | undefined;
  #isBusy = false;
  #isStopped = false;
  #fieldError: string | undefined;
  #formError: string | undefined;
  #title: string | undefined;

  readonly #parts: CallParts;
  readonly #texts;

  constructor(parts: CallParts) {
    this.#parts = parts;
    const { texts, language, settings } = this.#state;
    this.#texts = { ...texts, ...callTexts(language, settings.texts) };
    this.#render();
  }

  get #state() {
    return this.#parts.store.state;
  }

  get #isInProgress(): boolean {
    return this.#call !== null && !isFinal(this.#call);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#problemTimer);
  }

  // The progress of calls

  update(call: Call | null, id?: string): void {
    // The agent has started the call, so the page is not told about it.
    if (call?.type === "outgoing") return;
    const requested = this.#parts.storage.read<RequestedCall>(REQUESTED_CALL);
    if (!call) {
      if (requested) void this.#readEnd(requested);
      else if (this.#call && this.#isAnnounced) this.#apply({ ...this.#call, status: "end" });
      return;
    }
    // Ignore an end that arrives before the response to the request: only after the response is the page told about the
    // start and the end of the call.
    if (this.#isBusy && !this.#isAnnounced && isFinal(call)) return;
    // Ignore the call of a session that is older than a status that was pushed.
    const isOutdated = this.#isInProgress ? this.#call && isBefore(call, this.#call) : this.#endedId && !requested;
    if (id === undefined && isOutdated) return;
    // If an earlier page requested the call, that page has called widget_onCallStart already.
    const isResumed = id === undefined && requested !== undefined && !this.#isInProgress;
    if (isResumed) this.#isAnnounced = true;
    this.#apply(call, id);
    if (isResumed && this.#state.isOpen) this.#show();
  }

  /** Applies a status. `wasAnnounced` is whether the page knows of the call. */
  #apply(call: Call, id?: string, wasAnnounced = this.#isAnnounced): void {
    if (this.#isStopped) return;
    if (id !== undefined && id === this.#endedId) return this.#correctEnd(call);
    // Ignore the end of an earlier call that arrives while another call is in progress.
    if (isFinal(call) && this.#isInProgress && id !== undefined && id !== (this.#id ?? id)) return;
    this.#id = isFinal(call) ? undefined : (id ?? this.#id);
    const { storage, emit, store } = this.#parts;
    this.#isAnnounced = !isFinal(call);
    if (this.#isAnnounced) {
      if (!wasAnnounced) emit("onCallStart");
    } else {
      this.#endedId = id;
      storage.remove(REQUESTED_CALL);
      if (!wasAnnounced) return;
      emit("onCallEnd", endResult(call));
      const text = call.status === "end" ? this.#texts.callEnded : this.#texts.callFailed;
      store.update({
        notices: [...this.#state.notices, { text, at: Date.now(), after: this.#state.conversation.end }],
      });
    }
    this.#call = call;
    this.#render();
  }

  /** Handles a later status of a call that has ended; the call never starts again. If the service had given up the call
   * and the provider then reports a normal end, the visitor no longer sees the call as failed. The page is not called
   * again, because it already knows of the end. */
  #correctEnd(call: Call): void {
    if (call.status !== "end" || this.#call?.status !== "error") return;
    this.#call = call;
    this.#render();
  }

  /** Reads how a call has ended if its end was not pushed to this page. */
  async #readEnd(requested: RequestedCall): Promise<void> {
    if (Date.now() - requested.at > MAX_CALL_AGE_MS) return this.#parts.storage.remove(REQUESTED_CALL);
    try {
      const { call, chat_id, seq } = await this.#send(requested);
      // The page that requested the call has called widget_onCallStart already.
      if (call) this.#apply(call, `${chat_id}.${seq}`, true);
    } catch {
      // The call is read again with the next session.
    }
  }

  // Asking for a callback

  start(phone: string): void {
    void this.#request(phone, true);
  }

  #submit = ({ phone = "" }: FormValues): void => {
    if (this.#isBusy) return;
    this.#formError = undefined;
    this.#fieldError = !phone.trim() ? this.#texts.required : !isCallable(phone) ? this.#texts.badPhone : undefined;
    if (this.#fieldError) return this.#render();
    void this.#request(phone.trim(), false);
  };

  async #request(phone: string, isOfPage: boolean): Promise<void> {
    const { storage, messenger, emit } = this.#parts;
    const fail = (result: Result) => {
      if (!this.#isStopped) emit("onCallEnd", result);
    };
    if (this.#isBusy || this.#isInProgress) return fail(UNAVAILABLE);
    storage.persist();
    this.#call = null;
    this.#setBusy(true);
    const repeated = this.#unconfirmed?.phone === phone ? this.#unconfirmed : undefined;
    const requested = repeated ?? { messageId: randomId(), phone, at: Date.now() };
    this.#unconfirmed = requested;
    try {
      const response = await this.#send(requested);
      if (this.#isStopped) return;
      this.#unconfirmed = undefined;
      this.#setBusy(false);
      if (response.result === "fail") {
        this.#setAvailability(response);
        return fail({ result: "fail", reason: response.reason ?? "" });
      }
      const { call } = response;
      const id = `${response.chat_id}.${response.seq}`;
      // Store the request, unless pushes have reported the end of the call before this response.
      if (id !== this.#endedId) storage.write(REQUESTED_CALL, requested);
      // If the call has already ended, for example after a repeated request, tell the page only about the end.
      this.#apply(call, id, this.#isAnnounced || isFinal(call));
      // Read the chat that the call may have opened, and connect.
      await messenger.catchUp();
    } catch (error) {
      const isRefused = (error as Partial<ServiceError>).status === 400;
      this.#fieldError = isRefused ? this.#texts.refused : undefined;
      this.#formError = isRefused ? undefined : this.#texts.callNotSent;
      this.#setBusy(false);
      if (isOfPage) fail(isRefused ? { result: "fail", reason: "Phone is not valid." } : UNAVAILABLE);
    }
  }

  /** Sends a request for a call, and repeats it if the service cannot be reached. */
  async #send({ messageId, phone }: RequestedCall): Promise<CallResponse> {
    const { session, post } = this.#parts;
    for (let failures = 1; ; failures++) {
      try {
        return await session.withToken((token) =>
          post<CallResponse>("call", { token, message_id: messageId, phone, page: session.page }),
        );
      } catch (error) {
        const { isTemporary = true } = error as Partial<ServiceError>;
        if (!isTemporary || failures === MAX_ATTEMPTS) throw error;
        await new Promise((done) => setTimeout(done, backoffDelayMs(failures)));
        if (this.#isStopped) throw error;
      }
    }
  }

  #setBusy(isBusy: boolean): void {
    this.#isBusy = isBusy;
    if (isBusy) this.#fieldError = this.#formError = undefined;
    this.#render();
  }

  // The availability

  check(callback: (result: Result) => void): void {
    void this.#readAvailability().then((result) => {
      callback({ ...(this.#isStopped ? UNAVAILABLE : result) });
    });
  }

  prepare(): void {
    const readAt = this.#parts.storage.read<number>(AVAILABLE_AT) ?? 0;
    if (Date.now() - readAt < AVAILABILITY_LIFETIME_MS) this.#setAvailability({ result: "ok" });
    else if (!this.#availability) void this.#readAvailability();
  }

  async #readAvailability(): Promise<Result> {
    const { session, post, storage } = this.#parts;
    if (this.#isBusy || this.#isInProgress) return UNAVAILABLE;
    try {
      const { result, reason } = await post<Result>("callback", { token: session.token });
      const availability: Result = reason === undefined ? { result } : { result, reason };
      if (result === "ok") storage.write(AVAILABLE_AT, Date.now());
      this.#setAvailability(availability);
      return availability;
    } catch {
      return UNAVAILABLE;
    }
  }

  #setAvailability(availability: Result | undefined): void {
    if (this.#isStopped) return;
    this.#availability = availability;
    clearTimeout(this.#problemTimer);
    if (availability?.result === "fail") {
      this.#parts.storage.remove(AVAILABLE_AT);
      this.#problemTimer = setTimeout(() => this.#setAvailability(undefined), PROBLEM_LIFETIME_MS);
    }
    this.#render();
  }

  // The window

  open = (): void => {
    this.#open(undefined);
    void this.#readAvailability();
  };

  offer({ title, once_aday }: RuleCommand["params"]): void {
    const { storage } = this.#parts;
    const today = new Date().toDateString();
    if (once_aday && once_aday !== "false" && storage.read(OFFERED_ON) === today) return;
    void this.#readAvailability().then(({ result }) => {
      const { isOpen, conversation } = this.#state;
      if (result === "fail" || isOpen || conversation.isChatOpen) return;
      storage.write(OFFERED_ON, today);
      this.#open(typeof title === "string" && title ? title : undefined);
    });
  }

  #open(title: string | undefined): void {
    this.#title = title;
    this.#fieldError = this.#formError = undefined;
    if (!this.#isInProgress) this.#call = null;
    this.#show();
  }

  #show(): void {
    this.#parts.show("call");
    this.#render();
  }

  #write = (): void => {
    this.#parts.store.update({ formIntro: {} });
    this.#parts.show();
  };

  #callAgain = (): void => {
    this.#call = null;
    this.#render();
  };

  #render(): void {
    if (this.#isStopped) return;
    const { store } = this.#parts;
    const { screen, settings, contact } = this.#state;
    const texts = this.#texts;
    const { result, reason } = this.#availability ?? {};
    const isRunning = this.#isInProgress;
    // An account without callbacks has no call form.
    if (screen === "call" && reason === DISABLED.reason && !this.#call) return this.#write();
    const problem = isRunning || this.#isBusy ? UNAVAILABLE : result === "fail" ? this.#availability : undefined;
    const hint = this.#call || result === "fail" ? settings.title : texts.callHint;
    store.update({
      call: {
        screen: (
          <CallScreen
            texts={texts}
            call={this.#call}
            isUnavailable={result === "fail"}
            isBusy={this.#isBusy}
            phone={this.#call?.phone ?? contact.phone}
            fieldError={this.#fieldError}
            formError={this.#formError}
            submit={this.#submit}
            callAgain={this.#callAgain}
            write={this.#write}
          />
        ),
        button: (isRunning || result === "ok") && <CallButton texts={texts} onClick={this.open} />,
        line: progressLine(this.#call, texts),
        problem,
      },
      ...(screen === "call" && { formIntro: { title: this.#title ?? texts.callTitle, message: hint } }),
    });
  }
}
