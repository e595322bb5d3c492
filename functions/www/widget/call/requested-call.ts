/** The name under which the call that this browser has asked for is stored. */
export const REQUESTED_CALL = "call";
