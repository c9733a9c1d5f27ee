/** The one way in which a listener keeps `fire` from a verdict. */

/** The listener took the event for its plugins, and no answer came back: there is no verdict. */
export class ListenerLost extends Error {
  override readonly name = "ListenerLost";
  /** @param reason what became of the connection */
  constructor(reason: string) {
    super(`the listener took the event for its plugins and was lost (${reason}): no verdict`);
  }
}
