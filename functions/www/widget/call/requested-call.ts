/** The storage key of the call that this browser has requested. */
export const REQUESTED_CALL = "call";
