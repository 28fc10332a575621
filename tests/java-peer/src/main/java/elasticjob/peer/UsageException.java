package elasticjob.peer;

/** The arguments are wrong; the message says what they would be. */
final class UsageException extends Exception {

    private static final long serialVersionUID = 1L;

    UsageException(final String arguments) {
        super(arguments);
    }
}
