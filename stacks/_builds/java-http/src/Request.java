/**
 * A request as far as it matters here. {@code refusal} is the status line's end of the answer it gets instead of
 * one to its path, or null.
 */
record Request(String path, boolean wantsBody, boolean keepsAlive, String refusal) {
    static Request refused(String refusal) {
        return new Request("", true, false, refusal);
    }
}
