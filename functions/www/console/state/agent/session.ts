/* The session of the signed-in agent. The token is stored only in memory and in the tab's sessionStorage. */

import { signal } from "@preact/signals";
import { ApiClient, hasStatus } from "../../../api/client";
import type { LoginResponse, Role } from "../../../api/types";
import { announce } from "../../../ui/announcer";
import { persistentStorage, tabStorage } from "../../../ui/storage";
import { toasts } from "../../../ui/toast";
import { resetViewState } from "../list/view-state";

export interface Session {
  token: string;
  id: number;
  name: string;
  role: Role;
  accountId: string;
  accountName: string | undefined;
  email: string | undefined;
  photo: string | null;
  /** Whether another person has set the password, so that it must be replaced before anything else. */
  mustChangePassword?: boolean;
}

export const session = signal<Session | undefined>(tabStorage.read<Session>("session"));
type SignOutReason = "expired" | "suspended";
/** Why the session ended. Undefined if the agent signed out or has not signed in yet. */
export const signOutReason = signal<SignOutReason | undefined>(undefined);
/** Whether the agent has signed in since the page was loaded. */
export let isNewSession = false;

export const api = new ApiClient(() => session.peek()?.token);
api.onUnauthorized = () => endSession("expired");
api.onSuspended = () => endSession("suspended");

export function endSession(reason?: SignOutReason): void {
  tabStorage.remove("session");
  signOutReason.value = reason;
  session.value = undefined;
  // The next agent who signs in on this page sees nothing of this session.
  resetViewState();
  toasts.value = [];
  announce("");
}

function startSession(response: LoginResponse, email: string | undefined): void {
  const { token, agent } = response;
  isNewSession = true;
  signOutReason.value = undefined;
  storeSession({
    token,
    id: agent.id,
    name: agent.name,
    role: agent.role,
    accountId: agent.account_id,
    accountName: undefined,
    email,
    photo: null,
    mustChangePassword: response.must_change_password,
  });
}

/** Opens the console after the password has been replaced. */
export function finishPasswordChange(): void {
  const current = session.peek();
  if (current !== undefined) storeSession({ ...current, mustChangePassword: false });
}

function storeSession(value: Session): void {
  tabStorage.write("session", value);
  session.value = value;
}

export async function signIn(email: string, password: string): Promise<void> {
  startSession(await api.post("/agent/login", { body: { email, password } }), email);
  persistentStorage.write("email", email);
}

/** Signs in with the single-use code of one of the local host's sign-in links. */
export async function signInWithCode(code: string): Promise<void> {
  startSession(await api.post("/_local/sign-in", { body: { code } }), undefined);
}

/** Loads the profile data that is missing from the login response: e-mail address, photo, and the account's name. */
export async function loadProfile(): Promise<void> {
  try {
    const { agent, role, account } = await api.get("/agent/me");
    const current = session.peek();
    if (current?.id !== agent.id) return;
    storeSession({
      ...current,
      name: agent.name,
      role,
      email: agent.email,
      photo: agent.photo,
      accountName: account.name,
    });
  } catch {
    // The console works without this data.
  }
}

export async function signOut(): Promise<void> {
  try {
    await api.post("/agent/logout");
  } catch (error) {
    // Status 401 means that the session has already ended.
    if (!hasStatus(error, 401)) throw error;
  } finally {
    endSession();
  }
}
