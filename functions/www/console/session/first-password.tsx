/* The page on which an agent replaces a password that another person has set. */

import "./own-account.css";
import { useEffect, useRef } from "preact/hooks";
import { titleOf } from "../state/page/page-title";
import { finishPasswordChange, signOut } from "../state/agent/session";
import { toast } from "../../ui/toast";
import logo from "../icon.svg";
import { OwnPasswordForm } from "./own-password-form";
import { t } from "../../texts/translate";

export function FirstPassword() {
  const page = useRef<HTMLElement>(null);
  useEffect(() => {
    document.title = titleOf(t`Choose your own password`);
    page.current?.querySelector<HTMLElement>("[data-autofocus]")?.focus();
  }, []);
  return (
    <main ref={page} class="sign-in">
      <div class="first-password">
        <div class="head">
          <img src={logo} alt="" />
          <h1>{t`Choose your own password`}</h1>
          <p>{t`Somebody else set the one you signed in with.`}</p>
        </div>
        <OwnPasswordForm
          onChanged={() => {
            toast(t`Your password is set.`);
            finishPasswordChange();
          }}
        />
        <button type="button" class="btn line" onClick={() => void signOut().catch(() => undefined)}>
          {t`Sign in as somebody else`}
        </button>
      </div>
    </main>
  );
}
