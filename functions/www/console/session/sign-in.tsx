import "./sign-in.css";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, NetworkError } from "../../api/client";
import { Icon } from "../../ui/icons";
import { sentence } from "../../ui/words";
import { persistentStorage } from "../../ui/storage";
import logo from "../icon.svg";
import { titleOf } from "../state/page/page-title";
import { signOutReason, signIn, signInWithCode } from "../state/agent/session";
import { LanguageSelect } from "./language-select";
import { t } from "../../texts/translate";

const SUSPENDED_TEXT = t`The account is suspended. Ask whoever runs this service for you. Nothing is lost.`;

interface SignInProblem {
  text: string;
  field?: "email" | "password" | undefined;
  /** When the agent may try again at the earliest, as Unix time in milliseconds. */
  retryAt?: number | undefined;
}

function signInProblem(error: unknown, isCode: boolean): SignInProblem {
  if (error instanceof NetworkError)
    return { text: t`The service does not respond. Check your network and try again.` };
  if (!(error instanceof ApiError)) return { text: t`Something went wrong in this page. Reload it and try again.` };
  if (isCode && [400, 401, 403, 404, 410].includes(error.status)) {
    return { text: t`This sign-in link has been used or is too old. Sign in with e-mail and password.` };
  }
  if (error.code === "account_suspended") return { text: SUSPENDED_TEXT };
  if (error.status === 401) return { text: t`E-mail or password is wrong.`, field: "password" };
  if (error.status === 429)
    return { text: t`Too many attempts.`, retryAt: Date.now() + (error.retryAfter ?? 5) * 1000 };
  if (error.status === 503)
    return { text: t`The service is busy.`, retryAt: Date.now() + (error.retryAfter ?? 2) * 1000 };
  if (error.status === 400) {
    const field = error.field === "email" || error.field === "password" ? error.field : undefined;
    return {
      text: sentence(error.message),
      field,
    };
  }
  return { text: t`The service could not sign you in (${error.status}). Try again in a moment.` };
}

export function SignIn() {
  const [email, setEmail] = useState(() => persistentStorage.read<string>("email") ?? "");
  const [password, setPassword] = useState("");
  const [isPasswordVisible, setPasswordVisible] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<SignInProblem>();
  const emailInput = useRef<HTMLInputElement>(null);
  const passwordInput = useRef<HTMLInputElement>(null);

  const attemptSignIn = async (signInRequest: () => Promise<void>, isCode: boolean) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await signInRequest();
    } catch (error) {
      const problem = signInProblem(error, isCode);
      setProblem(problem);
      setBusy(false);
      if (problem.field === "password") passwordInput.current?.select();
      else if (problem.field === "email") emailInput.current?.select();
    }
  };

  // If the page was opened through one of the local host's sign-in links, the URL contains a single-use code. Remove
  // the code from the URL.
  const code = /^#code=(.+)$/.exec(location.hash)?.[1];
  useEffect(() => {
    document.title = titleOf(t`Sign in`);
    if (code !== undefined) {
      history.replaceState(null, "", location.pathname);
      void attemptSignIn(() => signInWithCode(decodeURIComponent(code)), true);
    } else {
      (email === "" ? emailInput : passwordInput).current?.focus();
    }
  }, []);

  const secondsLeft = useSecondsUntil(problem?.retryAt);
  const mustWait = secondsLeft > 0;

  const submit = (event: Event) => {
    event.preventDefault();
    if (isBusy || mustWait) return;
    const trimmedEmail = email.trim();
    if (!/^\S+@\S+$/.test(trimmedEmail)) {
      const text = trimmedEmail === "" ? t`Enter your e-mail address.` : t`This is not an e-mail address.`;
      setProblem({ text, field: "email" });
      emailInput.current?.focus();
    } else if (password === "") {
      setProblem({ text: t`Enter your password.`, field: "password" });
      passwordInput.current?.focus();
    } else {
      void attemptSignIn(() => signIn(trimmedEmail, password), false);
    }
  };

  return (
    <main class="sign-in">
      <form onSubmit={submit} noValidate>
        <div class="head">
          <img src={logo} alt="" />
          <h1>{t`Sign in to Switchboard`}</h1>
          <p>{t`For agents and admins`}</p>
        </div>
        {problem === undefined ? <SignOutNotice /> : <ProblemNotice problem={problem} secondsLeft={secondsLeft} />}
        <div class="field">
          <label for="email">{t`E-mail`}</label>
          <input
            ref={emailInput}
            id="email"
            class="input"
            type="email"
            autocomplete="username"
            autocapitalize="none"
            spellcheck={false}
            maxLength={254}
            value={email}
            aria-invalid={problem?.field === "email"}
            aria-describedby={problem?.field === "email" ? "sign-in-problem" : undefined}
            onInput={(event) => setEmail(event.currentTarget.value)}
          />
        </div>
        <div class="field">
          <label for="password">{t`Password`}</label>
          <div class="password">
            <input
              ref={passwordInput}
              id="password"
              class="input"
              type={(isPasswordVisible ? "text" : "password") as "password"}
              autocomplete="current-password"
              maxLength={254}
              value={password}
              aria-invalid={problem?.field === "password"}
              aria-describedby={problem?.field === "password" ? "sign-in-problem" : undefined}
              onInput={(event) => setPassword(event.currentTarget.value)}
            />
            <button
              type="button"
              aria-label={isPasswordVisible ? t`Hide password` : t`Show password`}
              onClick={() => setPasswordVisible(!isPasswordVisible)}
            >
              {isPasswordVisible ? t`Hide` : t`Show`}
            </button>
          </div>
        </div>
        <button type="submit" class="btn primary wide" aria-disabled={isBusy || mustWait}>
          {isBusy ? t`Signing in…` : mustWait ? t`Wait ${secondsLeft} s` : t`Sign in`}
        </button>
        <LanguageSelect />
      </form>
    </main>
  );
}

/** Returns the seconds until a time in milliseconds, rounded up. */
function useSecondsUntil(time: number | undefined): number {
  const [secondsLeft, setSecondsLeft] = useState(0);
  useEffect(() => {
    if (time === undefined) return;
    const update = () => setSecondsLeft(Math.max(0, Math.ceil((time - Date.now()) / 1000)));
    update();
    const timer = setInterval(update, 500);
    return () => clearInterval(timer);
  }, [time]);
  return time === undefined ? 0 : secondsLeft;
}

/** Says why the session has ended. */
function SignOutNotice() {
  const reason = signOutReason.value;
  if (reason === undefined) return null;
  return (
    <p class="notice">
      <Icon name="lock" />
      <span>
        {reason === "suspended" ? SUSPENDED_TEXT : t`Your session has ended. Sign in again. Your drafts are kept.`}
      </span>
    </p>
  );
}

const ProblemNotice = ({ problem, secondsLeft }: { problem: SignInProblem; secondsLeft: number }) => (
  <p class="notice bad" role="alert" id="sign-in-problem">
    <Icon name="circle-alert" />
    <span>
      {problem.text}
      {secondsLeft > 0 && ` ${t`Try again in ${secondsLeft}\u00a0s.`}`}
      {problem.retryAt !== undefined && secondsLeft === 0 && ` ${t`You can try again now.`}`}
    </span>
  </p>
);
