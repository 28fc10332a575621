package elasticjob.peer;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.util.Date;
import java.util.NoSuchElementException;
import java.util.StringJoiner;
import java.util.TimeZone;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.quartz.CronExpression;

/**
 * When expressions fire, as Quartz finds it. Each line of the input has a zone, the epoch second to start after, how many
 * fires are wanted, and the expression, with tabs between them. Each is answered with a line: {@code ok} and the fires as
 * epoch seconds, {@code err} and why, or {@code hang} where Quartz finds no end, or no room for what it collects.
 */
final class Fires {

    private static final long PATIENCE_SECONDS = 5;

    private Fires() {
    }

    static void main(final String[] arguments) throws Exception {
        if (0 != arguments.length) {
            throw new UsageException("without arguments");
        }
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        ExecutorService thread = newThread();
        for (String line = lines.readLine(); null != line; line = lines.readLine()) {
            String[] fields = line.split("\t", 4);
            Future<String> answer = thread.submit(() -> answer(fields));
            try {
                answers.println(answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
            } catch (final TimeoutException ex) {
                answers.println("hang");
                // The one that hangs cannot be stopped.
                thread = newThread();
            } catch (final ExecutionException ex) {
                throw new IllegalArgumentException(line, ex);
            }
        }
        answers.flush();
    }

    private static ExecutorService newThread() {
        return Executors.newSingleThreadExecutor(task -> {
            Thread result = new Thread(task);
            result.setDaemon(true);
            return result;
        });
    }

    private static String answer(final String[] fields) {
        try {
            CronExpression expression = new CronExpression(fields[3]);
            expression.setTimeZone(TimeZone.getTimeZone(fields[0]));
            return "ok\t" + fires(expression, new Date(1000L * Long.parseLong(fields[1])), Integer.parseInt(fields[2]));
            // What it takes without a value for a field it fails on when it looks for a fire.
        } catch (final ParseException | NoSuchElementException | StringIndexOutOfBoundsException ex) {
            return "err\t" + String.valueOf(ex.getMessage()).replaceAll("\\s+", " ");
        } catch (final OutOfMemoryError ex) {
            // Quartz keeps each number of a range of years; it lets go of them with this expression.
            return "hang";
        }
    }

    private static String fires(final CronExpression expression, final Date from, final int count) {
        var result = new StringJoiner(",");
        Date at = expression.getTimeAfter(from);
        for (int left = count; null != at && left > 0; left--) {
            result.add(Long.toString(at.getTime() / 1000));
            at = expression.getTimeAfter(at);
        }
        return result.toString();
    }
}
