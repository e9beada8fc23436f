import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.DelegatingAnalyzerWrapper;
import org.apache.lucene.analysis.LowerCaseFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.Tokenizer;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.analysis.miscellaneous.ASCIIFoldingFilter;
import org.apache.lucene.analysis.miscellaneous.LengthFilter;
import org.apache.lucene.analysis.snowball.SnowballFilter;
import org.apache.lucene.analysis.util.CharTokenizer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.LongPoint;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.FSDirectory;

/**
 * Indexes saved documents with Lucene and prints the CPU seconds of the process, without reading the file.
 *
 * Arguments: the file of documents, the folder of the index, threads, and the memory buffer in MB. `lucene.py` writes
 * the file: per document the number of values, then per value its kind, field name and content.
 */
public class LuceneIndexer {
    record Value(char kind, String name, String text, long number) {}

    static final FieldType CODE = new FieldType();

    static {
        CODE.setIndexOptions(IndexOptions.DOCS);
        CODE.setTokenized(true);
        CODE.setOmitNorms(false);
        CODE.freeze();
    }

    public static void main(String[] arguments) throws Exception {
        List<List<Value>> documents = read(Path.of(arguments[0]));
        int threads = Integer.parseInt(arguments[2]);
        IndexWriterConfig settings = new IndexWriterConfig(new ByField());
        settings.setRAMBufferSizeMB(Double.parseDouble(arguments[3]));
        settings.setUseCompoundFile(false);
        long before = cpu();
        try (IndexWriter writer = new IndexWriter(FSDirectory.open(Path.of(arguments[1])), settings)) {
            addAll(writer, documents, threads);
            writer.commit();
        } // waits for merges
        System.out.println((cpu() - before) / 1e9);
    }

    static void addAll(IndexWriter writer, List<List<Value>> documents, int threads) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        AtomicInteger next = new AtomicInteger();
        Callable<Void> work = () -> {
            for (int number; (number = next.getAndIncrement()) < documents.size(); ) {
                writer.addDocument(document(documents.get(number)));
            }
            return null;
        };
        List<Future<Void>> running = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            running.add(pool.submit(work));
        }
        for (Future<Void> one : running) {
            one.get();
        }
        pool.shutdown();
    }

    static Document document(List<Value> values) {
        Document document = new Document();
        for (Value value : values) {
            switch (value.kind) {
                case 'T' -> document.add(new TextField(value.name, value.text, Field.Store.NO));
                case 'C' -> document.add(new Field(value.name, value.text, CODE));
                case 'R' -> document.add(new StringField(value.name, value.text, Field.Store.NO));
                case 'I' -> {
                    document.add(new LongPoint(value.name, value.number));
                    document.add(new NumericDocValuesField(value.name, value.number));
                }
                default -> document.add(new NumericDocValuesField(value.name, value.number));
            }
        }
        return document;
    }

    static List<List<Value>> read(Path path) throws Exception {
        List<List<Value>> documents = new ArrayList<>();
        try (DataInputStream file = new DataInputStream(new BufferedInputStream(Files.newInputStream(path), 1 << 20))) {
            while (true) {
                List<Value> values = new ArrayList<>();
                for (int left = file.readInt(); left > 0; left--) {
                    char kind = (char) file.readByte();
                    String name = string(file).intern();
                    boolean isText = "TCR".indexOf(kind) >= 0;
                    values.add(new Value(kind, name, isText ? string(file) : null, isText ? 0 : file.readLong()));
                }
                documents.add(values);
            }
        } catch (EOFException end) {
            return documents;
        }
    }

    static String string(DataInputStream file) throws Exception {
        return new String(file.readNBytes(file.readInt()), StandardCharsets.UTF_8);
    }

    static long cpu() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    /** Chooses the analyzer by the field: all whitespace for code, the words of a language for everything else. */
    static class ByField extends DelegatingAnalyzerWrapper {
        final Analyzer code = new WhitespaceAnalyzer(), english = new Words(true), other = new Words(false);

        ByField() {
            super(PER_FIELD_REUSE_STRATEGY);
        }

        @Override
        protected Analyzer getWrappedAnalyzer(String name) {
            return name.equals("code") ? code : name.endsWith("_en") ? english : other;
        }
    }

    /** Runs of letters and digits in lower case without accents, at most 50 letters; English ones are stemmed. */
    static class Words extends Analyzer {
        final boolean isEnglish;

        Words(boolean isEnglish) {
            this.isEnglish = isEnglish;
        }

        @Override
        protected TokenStreamComponents createComponents(String name) {
            Tokenizer split = CharTokenizer.fromTokenCharPredicate(Character::isLetterOrDigit);
            TokenStream words = new ASCIIFoldingFilter(new LowerCaseFilter(split));
            words = isEnglish ? new SnowballFilter(words, "English") : words;
            return new TokenStreamComponents(split, new LengthFilter(words, 1, 50));
        }
    }
}
